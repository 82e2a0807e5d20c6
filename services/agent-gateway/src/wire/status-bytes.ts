import { create, toBinary } from "@bufbuild/protobuf";
import { field, type Inputs, InputsSchema, varint, WorkloadStatusSchema } from "@ringwall/wire";
import { DETAIL_LIMIT } from "../limits.ts";
import type { Session } from "../session/session.ts";
import type { HeadView } from "../status/head-view.ts";

/** Field numbers of WorkloadStatus and StatusPage in status.proto, with their wire types. */
const STATUS = {
  workload: 0x0a,
  state: 0x10,
  detail: 0x1a,
  epoch: 0x20,
  headVersion: 0x28,
  ackedVersion: 0x30,
  ackedDigest: 0x3a,
  inputs: 0x42,
  parkedDigests: 0x4a,
  seenUnixMs: 0x50,
  gateway: 0x5a,
  session: 0x60,
  agentVersion: 0x6a,
} as const;
/** From field 16 on a tag has two bytes. */
const TAIL = { driftCount: 0x78, mode: [0x80, 0x01], ackedUnixMs: [0x88, 0x01] } as const;
const PAGE = { gateway: 0x0a, seenUnixMs: 0x10, workloads: 0x1a } as const;

/** Every field of a status has a limit; together they are far below this. */
const STATUS_BYTES = 16 * 1024;
const FIRST_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array();

/**
 * Encodes pages of STATUS without building their messages: forty pages of 256 sessions are due at
 * once when a change concerns everybody. What sessions share is encoded once.
 */
export class StatusBytes {
  readonly #gateway: string;
  readonly #inputs = new WeakMap<Inputs, Uint8Array>();
  readonly #facts = new WeakMap<object, Uint8Array>();
  readonly #status = Buffer.allocUnsafe(STATUS_BYTES);
  #page = Buffer.allocUnsafe(FIRST_BYTES);

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  /** A page of these sessions. */
  page(
    seenUnixMs: number,
    sessions: Iterable<Session>,
    head: (session: Session) => HeadView,
  ): Uint8Array {
    let at = text(this.#page, 0, PAGE.gateway, this.#gateway);
    at = field(this.#page, at, PAGE.seenUnixMs, Math.trunc(seenUnixMs));
    for (const session of sessions) {
      const length = this.#write(session, head(session));
      this.#makeRoom(at + length);
      this.#page[at] = PAGE.workloads;
      at = varint(this.#page, at + 1, length);
      this.#status.copy(this.#page, at, 0, length);
      at += length;
    }
    return new Uint8Array(this.#page.subarray(0, at));
  }

  /** Writes one status; returns its length. */
  #write(session: Session, head: HeadView): number {
    const to = this.#status;
    const { has } = session;
    let at = text(to, 0, STATUS.workload, session.workload);
    at = field(to, at, STATUS.state, session.state);
    at = text(to, at, STATUS.detail, session.detail.slice(0, DETAIL_LIMIT));
    at = field(to, at, STATUS.epoch, Number(head.epoch));
    at = field(to, at, STATUS.headVersion, head.version);
    at = field(to, at, STATUS.ackedVersion, has.version);
    at = has.digest === "" ? at : digest(to, at, STATUS.ackedDigest, has.digest);
    at = bytes(to, at, STATUS.inputs, this.#inputsOf(session.inputs));
    for (const parked of session.parked) {
      at = digest(to, at, STATUS.parkedDigests, parked);
    }
    at = field(to, at, STATUS.seenUnixMs, Math.trunc(session.seenUnixMs));
    at = text(to, at, STATUS.gateway, this.#gateway);
    at = field(to, at, STATUS.session, session.session);
    at = text(to, at, STATUS.agentVersion, session.agentVersion);
    const facts = this.#factsOf(session.facts);
    to.set(facts, at);
    at = field(to, at + facts.length, TAIL.driftCount, Number(session.driftCount));
    at = tailField(to, at, TAIL.mode, head.mode);
    return tailField(to, at, TAIL.ackedUnixMs, Math.trunc(session.ackedUnixMs));
  }

  /** Agents of a partition mostly have the same inputs. */
  #inputsOf(inputs: Inputs | undefined): Uint8Array {
    if (inputs === undefined) {
      return NO_BYTES;
    }
    let encoded = this.#inputs.get(inputs);
    if (encoded === undefined) {
      encoded = toBinary(InputsSchema, inputs);
      this.#inputs.set(inputs, encoded);
    }
    return encoded;
  }

  /** The field `facts` with its tags. */
  #factsOf(facts: Readonly<Record<string, string>>): Uint8Array {
    let encoded = this.#facts.get(facts);
    if (encoded === undefined) {
      const status = create(WorkloadStatusSchema, { facts: { ...facts } });
      encoded = toBinary(WorkloadStatusSchema, status);
      this.#facts.set(facts, encoded);
    }
    return encoded;
  }

  #makeRoom(length: number): void {
    const needed = length + 16;
    if (needed > this.#page.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#page.length * 2));
      this.#page.copy(larger);
      this.#page = larger;
    }
  }
}

function text(buffer: Buffer, at: number, tag: number, value: string): number {
  if (value === "") {
    return at;
  }
  const length = Buffer.byteLength(value);
  buffer[at] = tag;
  const start = varint(buffer, at + 1, length);
  return start + buffer.write(value, start, "utf8");
}

function digest(buffer: Buffer, at: number, tag: number, hex: string): number {
  buffer[at] = tag;
  buffer[at + 1] = hex.length / 2;
  return at + 2 + buffer.write(hex, at + 2, "hex");
}

function bytes(buffer: Buffer, at: number, tag: number, value: Uint8Array): number {
  if (value.length === 0) {
    return at;
  }
  buffer[at] = tag;
  const start = varint(buffer, at + 1, value.length);
  buffer.set(value, start);
  return start + value.length;
}

function tailField(
  buffer: Buffer,
  at: number,
  tag: readonly [number, number],
  value: number,
): number {
  if (value === 0) {
    return at;
  }
  buffer[at] = tag[0];
  return field(buffer, at + 1, tag[1], value);
}
