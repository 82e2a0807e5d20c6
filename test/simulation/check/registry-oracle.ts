import { fromBinary } from "@bufbuild/protobuf";
import type { AppendEffect, StoredRecord } from "@ringwall/actor";
import { HEADER, type Names } from "@ringwall/bus";
import type { WorkloadSpec } from "@ringwall/render";
import { Presence, type WorkloadRecord, WorkloadRecordSchema } from "@ringwall/wire";
import { Violation } from "./violation.ts";

interface Change {
  readonly sequence: number;
  readonly id: string;
  readonly record: WorkloadRecord | undefined;
  readonly spec: WorkloadSpec | undefined;
}

/** The registry at one revision. */
export interface RegistryState {
  /** Names what bodies are rendered from: equal names, equal bodies. */
  readonly content: string;
  readonly workloads: ReadonlyMap<string, WorkloadSpec>;
}

/** One continuous life of the stream. */
interface Life {
  /** First revision at which a state is known: a restored stream holds last values only. */
  readonly floor: number;
  readonly changes: Change[];
  readonly states: Map<number, RegistryState>;
}

/** Everything that REGISTRY ever said, by revision. */
export class RegistryOracle {
  readonly #head: string;
  readonly #lives: Life[] = [{ floor: 0, changes: [], states: new Map() }];
  readonly #current = new Map<string, WorkloadRecord>();
  readonly #ever = new Map<string, Map<string, WorkloadSpec>>();
  /** Sequences that writes were to follow, by their ids. */
  readonly #fences = new Map<string, number>();
  /** Last sequence of each partition, by what its keys begin with. */
  readonly #last = new Map<string, number>();
  #history: Change[] = [];
  #formsEver = 0;
  #regressedMs = Number.NEGATIVE_INFINITY;
  /** Changes before that. */
  #regressedAt = 0;

  constructor(names: Names) {
    this.#head = names.registryAll.slice(0, -1);
  }

  /** What it holds now. */
  get current(): ReadonlyMap<string, WorkloadRecord> {
    return this.#current;
  }

  /** Changes so far, over all lives; a place to look back from. */
  get place(): number {
    return this.#history.length;
  }

  /**
   * Records of a workload: what it was at a place, and whatever came later. Undefined: it was removed.
   * What the stream lost within `graceMs` before now counts: nobody can know of it yet.
   */
  since(id: string, place: number, nowMs: number, graceMs: number): (WorkloadRecord | undefined)[] {
    const isFresh = nowMs - this.#regressedMs <= graceMs;
    const from = isFresh ? Math.min(place, this.#regressedAt) : place;
    const before = this.#history.slice(0, from).findLast((change) => change.id === id);
    const after = this.#history.slice(from).filter((change) => change.id === id);
    return [before?.record, ...after.map(({ record }) => record)];
  }

  /** How many forms of workloads were ever known. */
  get formsEver(): number {
    return this.#formsEver;
  }

  /** Every form in which a workload was ever known. */
  ever(): readonly WorkloadSpec[] {
    return [...this.#ever.values()].flatMap((specs) => [...specs.values()]);
  }

  /** States that a revision names; more than one after the stream went back. */
  statesAt(revision: number): readonly RegistryState[] {
    return this.#lives.flatMap((life) =>
      revision >= life.floor ? [this.#stateOf(life, revision)] : [],
    );
  }

  take(record: StoredRecord): void {
    this.#checkFence(record);
    const change = this.#read(record);
    if (change === undefined) {
      return;
    }
    this.#lives.at(-1)?.changes.push(change);
    this.#note(change);
  }

  /** REGISTRY is another one, or went back. */
  regressed(records: Iterable<StoredRecord>, lastSequence: number, nowMs: number): void {
    this.#regressedMs = nowMs;
    this.#regressedAt = this.#history.length;
    this.#last.clear();
    const stored = [...records];
    for (const { subject, sequence } of stored) {
      this.#last.set(partitionOfKey(subject), sequence);
    }
    const changes = stored.flatMap((record) => this.#read(record) ?? []);
    this.#lives.push({ floor: lastSequence, changes, states: new Map() });
    for (const id of [...this.#current.keys()]) {
      this.#note({ sequence: 0, id, record: undefined, spec: undefined });
    }
    for (const change of changes) {
      this.#note(change);
    }
  }

  /** A registrar asks for a write: behind which record of its partition. */
  wanted({ write = "", expect }: AppendEffect): void {
    this.#fences.set(write, expect?.sequence ?? -1);
  }

  /** Whoever writes a partition has read all of it: what is stored follows what it was judged by. */
  #checkFence({ subject, sequence, headers }: StoredRecord): void {
    const partition = partitionOfKey(subject);
    const write = headers[HEADER.write] ?? "";
    const fence = this.#fences.get(write);
    const last = this.#last.get(partition) ?? 0;
    if (fence !== last) {
      throw new Violation(
        "I10",
        `${write} wrote REGISTRY ${sequence} behind ${fence}, not ${last}`,
      );
    }
    this.#last.set(partition, sequence);
  }

  #note(change: Change): void {
    this.#history.push(change);
    if (change.record === undefined || change.spec === undefined) {
      this.#current.delete(change.id);
      return;
    }
    this.#current.set(change.id, change.record);
    const { labels, addresses } = change.spec;
    const form = JSON.stringify([labels, addresses]);
    const forms = this.#ever.get(change.id) ?? new Map<string, WorkloadSpec>();
    this.#formsEver += forms.has(form) ? 0 : 1;
    this.#ever.set(change.id, forms.set(form, change.spec));
  }

  #read(record: StoredRecord): Change | undefined {
    const [, , id = ""] = record.subject.slice(this.#head.length).split(".");
    if (id === "" || id === "OWNER") {
      return undefined;
    }
    const { sequence, headers } = record;
    if (headers[HEADER.kvOperation] !== undefined || record.payload.length === 0) {
      return { sequence, id, record: undefined, spec: undefined };
    }
    const workload = fromBinary(WorkloadRecordSchema, record.payload);
    return { sequence, id, record: workload, spec: specOf(workload) };
  }

  #stateOf(life: Life, revision: number): RegistryState {
    const upTo = life.changes.findLastIndex(({ sequence }) => sequence <= revision) + 1;
    const known = life.states.get(upTo);
    if (known !== undefined) {
      return known;
    }
    const workloads = new Map<string, WorkloadSpec>();
    for (const { id, spec } of life.changes.slice(0, upTo)) {
      if (spec === undefined) {
        workloads.delete(id);
      } else {
        workloads.set(id, spec);
      }
    }
    const content = JSON.stringify([...workloads.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    const state = { content, workloads };
    life.states.set(upTo, state);
    return state;
  }
}

const PRESENCES: Readonly<Record<Presence, WorkloadSpec["presence"]>> = {
  [Presence.UNSPECIFIED]: "live",
  [Presence.LIVE]: "live",
  [Presence.STALE]: "stale",
  [Presence.DRAINING]: "draining",
  [Presence.EXPIRED]: "expired",
};

/** A stored workload as rendering takes it. */
export function specOf(record: WorkloadRecord): WorkloadSpec {
  const { id, labels, addresses, rows, outbounds, presence, enforced } = record;
  return {
    id,
    labels,
    addresses,
    rows,
    outbounds,
    presence: PRESENCES[presence] ?? "live",
    enforced,
  };
}

function partitionOfKey(subject: string): string {
  return subject.slice(0, subject.lastIndexOf("."));
}
