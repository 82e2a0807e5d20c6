import { createHash } from "node:crypto";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { headers as natsHeaders } from "@nats-io/nats-core";
import { type Bus, ensureTopology, partitionOf, purgeHeaders } from "@ringwall/bus";
import {
  type AcceptStateSchema,
  ConfigCommitSchema,
  ConfigRecordSchema,
  Layer,
  MarkEnforcedRequestSchema,
  MarkEnforcedResponseSchema,
  Presence,
  type RenderBatch,
  RenderBatchSchema,
  type WorkloadRecord,
  WorkloadRecordSchema,
} from "@ringwall/wire";

/** A stored batch with its sequence. */
export interface StoredBatch {
  readonly sequence: number;
  readonly batch: RenderBatch;
}

/** What the other services would write, for tests of the renderer on a real bus. */
export class ControlPlane {
  readonly #bus: Bus;
  readonly #rendered: (StoredBatch & { readonly subject: string })[] = [];
  readonly #records = new Map<string, WorkloadRecord>();
  #head: { readonly id: Uint8Array<ArrayBuffer>; readonly sequence: number } | undefined;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Connects to streams that exist or makes them. */
  async open(): Promise<this> {
    await ensureTopology(this.#bus, { replicas: 1 });
    return this;
  }

  /** Commits files of the core layer; `undefined` deletes one. Returns the CONFIG sequence. */
  async commit(files: Readonly<Record<string, string | undefined>>, blobs = true): Promise<number> {
    const puts = [];
    const deletes = [];
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) {
        deletes.push({ layer: Layer.CORE, path });
        continue;
      }
      const bytes = new TextEncoder().encode(text);
      const sha256 = createHash("sha256").update(bytes).digest();
      if (blobs) {
        await this.#store(this.#bus.names.blob(sha256.toString("hex"), 0), bytes, {
          "Rw-Count": "1",
        });
      }
      puts.push({
        layer: Layer.CORE,
        path,
        sha256: new Uint8Array(sha256),
        size: BigInt(bytes.length),
      });
    }
    const first = this.#head === undefined;
    const commit = create(ConfigCommitSchema, {
      parent: this.#head?.id ?? new Uint8Array(),
      author: "test",
      timeUnixMs: BigInt(Date.now()),
      puts,
      deletes,
      ...(first ? { generation: BigInt(Date.now()), environment: "prod" } : {}),
    });
    const id = createHash("sha256").update(toBinary(ConfigCommitSchema, commit)).digest();
    const ownId = new Uint8Array(id);
    commit.id = ownId;
    const record = create(ConfigRecordSchema, { record: { case: "commit", value: commit } });
    const sequence = await this.#store(
      this.#bus.names.configCommit,
      toBinary(ConfigRecordSchema, record),
    );
    this.#head = { id: ownId, sequence };
    return sequence;
  }

  /** The present head. */
  get head(): { readonly id: Uint8Array<ArrayBuffer>; readonly sequence: number } {
    if (this.#head === undefined) {
      throw new Error("nothing was committed");
    }
    return this.#head;
  }

  /** Appends an accepted state. */
  async accept(value: MessageInitShape<typeof AcceptStateSchema>): Promise<void> {
    const record = create(ConfigRecordSchema, { record: { case: "acceptState", value } });
    await this.#store(this.#bus.names.configCommit, toBinary(ConfigRecordSchema, record));
  }

  /** Writes a workload. */
  async workload(
    id: string,
    rest: Omit<MessageInitShape<typeof WorkloadRecordSchema>, "$typeName" | "id"> = {},
  ): Promise<number> {
    const presence = Presence.LIVE;
    const record = create(WorkloadRecordSchema, { presence, ...rest, id });
    this.#records.set(id, record);
    return await this.#store(this.#subject(id), toBinary(WorkloadRecordSchema, record));
  }

  /** Removes a workload. */
  async remove(id: string): Promise<void> {
    this.#records.delete(id);
    await this.#store(this.#subject(id), new Uint8Array(), purgeHeaders());
  }

  /** Puts bytes where a workload's record belongs. */
  async damage(id: string): Promise<void> {
    await this.#store(this.#subject(id), new Uint8Array([0xff, 0xff, 0xff]));
  }

  /** Answers MarkEnforced by storing the mark; returns what was asked for, oldest first. */
  markEnforced(): { readonly ids: string[]; readonly enforced: boolean }[] {
    const seen: { ids: string[]; enforced: boolean }[] = [];
    this.#bus.nc.subscribe(`${this.#bus.names.internal("workload", "enforced")}.*`, {
      callback: (_, message) => {
        const { workloads, enforced } = fromBinary(MarkEnforcedRequestSchema, message.data);
        seen.push({ ids: workloads, enforced });
        message.respond(
          toBinary(MarkEnforcedResponseSchema, create(MarkEnforcedResponseSchema, {})),
        );
        for (const id of workloads) {
          const {
            $typeName: _type,
            $unknown: _unknown,
            ...record
          } = this.#records.get(id) ?? create(WorkloadRecordSchema, { id });
          void this.workload(id, { ...record, enforced });
        }
      },
    });
    return seen;
  }

  /** Batches of the partition of a workload, oldest first. */
  async batches(id: string): Promise<StoredBatch[]> {
    const stream = this.#bus.names.stream("RENDERED");
    const { state } = await this.#bus.jsm.streams.info(stream);
    for (let seq = this.#rendered.length + 1; seq <= state.last_seq; seq += 1) {
      const message = await this.#bus.jsm.streams.getMessage(stream, { seq });
      if (message === null) {
        throw new Error(`RENDERED has no message ${seq}`);
      }
      const batch = fromBinary(RenderBatchSchema, message.data);
      this.#rendered.push({ subject: message.subject, sequence: seq, batch });
    }
    const subject = this.#bus.names.rendered(partitionOf(id));
    return this.#rendered.filter((each) => each.subject === subject);
  }

  /** Appends a batch to RENDERED as another renderer would. */
  async foreignBatch(
    id: string,
    batch: MessageInitShape<typeof RenderBatchSchema>,
  ): Promise<number> {
    const payload = toBinary(RenderBatchSchema, create(RenderBatchSchema, batch));
    return await this.#store(this.#bus.names.rendered(partitionOf(id)), payload);
  }

  /** Bytes of a content object; undefined if it is not stored. */
  async content(digestHex: string): Promise<Uint8Array | undefined> {
    const message = await this.#bus.jsm.streams.getMessage(this.#bus.names.stream("CONTENT"), {
      last_by_subj: this.#bus.names.content(digestHex, 0),
    });
    return message?.data;
  }

  /** Number of messages stored in a stream so far. */
  async lastSequence(logical: string): Promise<number> {
    return (await this.#bus.jsm.streams.info(this.#bus.names.stream(logical))).state.last_seq;
  }

  #subject(id: string): string {
    return this.#bus.names.registryWorkload(partitionOf(id), id);
  }

  async #store(
    subject: string,
    payload: Uint8Array,
    plain: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const wire = natsHeaders();
    for (const [name, value] of Object.entries(plain)) {
      wire.set(name, value);
    }
    const answer = await this.#bus.nc.request(subject, payload, { timeout: 5_000, headers: wire });
    const ack = answer.json<{ seq?: number; error?: { description: string } }>();
    if (ack.seq === undefined) {
      throw new Error(`${subject}: ${ack.error?.description}`);
    }
    return ack.seq;
  }
}

/** The last body of a workload that batches name, `refused`, `removed` or undefined. */
export function lastBody(batches: readonly StoredBatch[], id: string): string | undefined {
  let body: string | undefined;
  for (const { batch } of batches) {
    const named = batch.set.find(({ workloads }) => workloads.includes(id));
    if (named !== undefined) {
      body = Buffer.from(named.digest).toString("hex");
    } else if (batch.refused.some(({ workload }) => workload === id)) {
      body = "refused";
    } else if (batch.removed.includes(id) || (batch.full && batch.count === 1)) {
      body = "removed";
    }
  }
  return body;
}
