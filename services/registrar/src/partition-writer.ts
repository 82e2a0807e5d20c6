import { toBinary } from "@bufbuild/protobuf";
import type { AppendEffect, FailureCode, StoredRecord } from "@ringwall/actor";
import { HEADER, purgeHeaders } from "@ringwall/bus";
import { PartitionOwnerSchema, type WorkloadRecord, WorkloadRecordSchema } from "@ringwall/wire";
import { JOB_AGE_MAX_MS, type Job } from "./job.ts";
import { JobQueue } from "./job-queue.ts";
import { type Current, operate, type Result } from "./operation.ts";
import { OwnerKey } from "./owner-key.ts";
import { PartitionReload } from "./partition-reload.ts";
import { MARKER_TTL_MS } from "./registry.ts";
import { refused } from "./report.ts";
import { traceWrite, writeSpan } from "./write-trace.ts";
import type { WriterHost } from "./writer-host.ts";
import { inFlight, type WriterState, type WrittenWorkload } from "./writer-state.ts";

/** Workloads that are judged in one step at most. */
const JUDGED_PER_STEP = 64;

/** Pause after the bus could not store a write. */
const RETRY_MS = 1_000;

const OWNER_HEADERS = { [HEADER.type]: PartitionOwnerSchema.typeName };
const RECORD_HEADERS = { [HEADER.type]: WorkloadRecordSchema.typeName };
const REMOVAL_HEADERS = purgeHeaders(`${MARKER_TTL_MS / 1000}s`);

/**
 * The one writer of a partition of REGISTRY. Requests wait in a queue; one append is in flight,
 * fenced by the partition's last sequence; requests for the same workload share one append, unless
 * one says otherwise than another.
 */
export class PartitionWriter {
  readonly #host: WriterHost;
  readonly #partition: number;
  readonly #queue = new JobQueue();
  readonly #own = new Map<string, Current>();
  readonly #ownerKey: OwnerKey;
  #state: WriterState = { kind: "released" };
  #fence = 0;
  /** Revision of the fold when the present append was sent. */
  #sentAt = 0;
  #round = 0;

  constructor(host: WriterHost, partition: number) {
    this.#host = host;
    this.#partition = partition;
    this.#ownerKey = new OwnerKey(host.instance);
  }

  /** The slot is ours: takes the partition over. */
  gain(): void {
    if (this.#state.kind !== "released") {
      return;
    }
    this.#fence = this.#host.registry.fence(this.#partition);
    this.#claim();
  }

  /** The slot is not ours any more. */
  lose(): void {
    if (this.#state.kind === "released") {
      return;
    }
    const before = this.#state;
    this.#state = { kind: "released" };
    this.#host.serving(this.#partition, false);
    if (before.kind === "reloading") {
      this.#host.out.push({ kind: "unfollow", reader: before.reload.reader });
    }
    const jobs = [...inFlight(before), ...this.#queue.drain()];
    this.#refuse(jobs, "its partition moves to another instance");
    this.#own.clear();
  }

  /** Takes a request in. */
  submit(request: Omit<Job, "sinceMs">): void {
    const job = { ...request, sinceMs: this.#host.moment().monotonicMs };
    if (this.#state.kind === "released" || this.#state.kind === "waiting") {
      this.#refuse([job], "its partition has no writer here at the moment");
      return;
    }
    if (!this.#queue.add(job)) {
      this.#refuse([job], "too many requests wait for its partition");
      return;
    }
    this.pump();
  }

  /** A record of the partition was folded. */
  folded(record: StoredRecord): void {
    this.#fence = Math.max(this.#fence, record.sequence);
    this.#ownerKey.folded(record.sequence, record.timeUnixMs);
    for (const [id, current] of this.#own) {
      if (current.sequence <= this.#host.registry.revision) {
        this.#own.delete(id);
      }
    }
    if (this.#ownerKey.due) {
      this.pump();
    }
  }

  appended(tag: string, sequence: number): void {
    const state = this.#state;
    if ((state.kind !== "claiming" && state.kind !== "writing") || state.tag !== tag) {
      return;
    }
    const contradiction = this.#contradiction(state, sequence);
    if (contradiction !== undefined) {
      this.#host.contradicted(contradiction);
      return;
    }
    this.#fence = Math.max(this.#fence, sequence);
    this.#state = { kind: "idle" };
    if (state.kind === "claiming") {
      this.#ownerKey.claimed(sequence);
      this.#host.serving(this.#partition, true);
    } else if (state.written !== undefined) {
      this.#stored(state.written, sequence);
    }
    this.pump();
  }

  /** Why the fold is of another life of the log than a write that was stored now. */
  #contradiction(state: WriterState, sequence: number): string | undefined {
    if (sequence <= this.#sentAt) {
      return `the log was read up to ${this.#sentAt}, a later write was stored at ${sequence}`;
    }
    return state.kind === "claiming"
      ? state.reload?.contradiction(this.#host.registry, this.#partition, sequence)
      : undefined;
  }

  failed(tag: string, code: FailureCode, detail: string): void {
    const state = this.#state;
    if ((state.kind !== "claiming" && state.kind !== "writing") || state.tag !== tag) {
      return;
    }
    const jobs = inFlight(state);
    this.#host.out.push({
      kind: "count",
      name: "ringwall_registrar_failed_writes_total",
      labels: { code },
    });
    if (code === "too-large") {
      this.#state = { kind: "idle" };
      for (const job of jobs) {
        job.settle(refused("too_large", `the record does not fit one message: ${detail}`));
      }
      this.pump();
    } else if (code === "fence-lost") {
      this.#queue.putBack(jobs);
      this.#reload();
    } else {
      this.#wait(jobs, `${code}: ${detail}`);
    }
  }

  /** A record or the end of the partition's own reader. */
  reloadRecord(reader: string, record: StoredRecord): void {
    if (this.#state.kind === "reloading" && this.#state.reload.reader === reader) {
      this.#state.reload.take(record);
    }
  }

  reloadEnded(reader: string, sequence: number): void {
    if (this.#state.kind !== "reloading" || this.#state.reload.reader !== reader) {
      return;
    }
    const { reload } = this.#state;
    this.#host.out.push({ kind: "unfollow", reader });
    this.#adopt(reload, sequence);
    reload.ended(this.#host.registry, this.#partition);
    this.#claim(reload);
  }

  /** The partition's own reader could not go on. */
  reloadLost(reader: string, detail: string): void {
    if (this.#state.kind === "reloading" && this.#state.reload.reader === reader) {
      // One that was refused would be tried again for ever.
      this.#host.out.push({ kind: "unfollow", reader });
      this.#wait([], detail);
    }
  }

  /** The retry timer ran out. */
  retry(): void {
    if (this.#state.kind === "waiting") {
      this.#reload();
    }
  }

  /** Writes the next workload if nothing is in flight. */
  pump(): void {
    for (let judged = 0; this.#state.kind === "idle"; judged += 1) {
      if (this.#ownerKey.due) {
        this.#state = { kind: "writing", tag: this.#writeOwner() };
        return;
      }
      if (judged === JUDGED_PER_STEP) {
        this.#host.out.push({ kind: "again", tag: `pump.${this.#partition}` });
        return;
      }
      const jobs = this.#queue.take();
      if (jobs === undefined) {
        return;
      }
      this.#judge(this.#fresh(jobs));
    }
  }

  #fresh(jobs: readonly Job[]): readonly Job[] {
    const oldestMs = this.#host.moment().monotonicMs - JOB_AGE_MAX_MS;
    const late = jobs.filter((job) => job.sinceMs < oldestMs);
    this.#refuse(late, "it waited too long");
    return late.length === 0 ? jobs : jobs.filter((job) => job.sinceMs >= oldestMs);
  }

  #judge(jobs: readonly Job[]): void {
    const [first] = jobs;
    if (first === undefined) {
      return;
    }
    const { id } = first;
    const before = this.#current(id);
    let current = before;
    const results: Result[] = [];
    let reported = false;
    for (const [index, { operation }] of jobs.entries()) {
      const result = operate(current, operation, {
        scopes: this.#host.scopes,
        wallMs: this.#host.moment().wallMs,
        wasEnforced: this.#ownerKey.wasEnforced(id),
      });
      const reports = operation.kind === "report" && result.kind === "next";
      if (reports && reported && result.record !== current.record) {
        // It says otherwise than one before it, which is answered only for what was stored.
        this.#queue.putBack(jobs.slice(index));
        break;
      }
      reported ||= reports;
      results.push(result);
      if (result.kind === "next") {
        this.#rememberRemoval(id, current.record, result.record);
        current = { record: result.record, sequence: current.sequence };
      }
    }
    const judged = jobs.slice(0, results.length);
    if (current.record === before.record) {
      this.#answer(judged, results, before.sequence);
    } else if (this.#ownerKey.due) {
      this.#queue.putBack(judged);
    } else {
      const traced = traceWrite(judged, this.#host.traceRatio, this.#host.moment());
      this.#writeWorkload({ id, record: current.record, jobs: judged, results, traced });
    }
  }

  #rememberRemoval(
    id: string,
    before: WorkloadRecord | undefined,
    after: WorkloadRecord | undefined,
  ): void {
    if (before === undefined || after !== undefined) {
      return;
    }
    if (before.enforced) {
      this.#ownerKey.remember(id);
    } else {
      this.#ownerKey.forget(id);
    }
  }

  #writeWorkload(written: WrittenWorkload): void {
    const { id, record, traced } = written;
    const tag = this.#append({
      subject: this.#host.names.registryWorkload(this.#partition, id),
      payload: record === undefined ? new Uint8Array() : toBinary(WorkloadRecordSchema, record),
      headers: record === undefined ? REMOVAL_HEADERS : RECORD_HEADERS,
      ...(traced === undefined ? {} : { trace: traced.trace }),
    });
    this.#state = { kind: "writing", tag, written };
  }

  #claim(reload?: PartitionReload): void {
    const folded = this.#host.registry.owner(this.#partition);
    this.#ownerKey.adopt(folded?.owner);
    this.#ownerKey.succeed(reload === undefined ? folded : reload.owner);
    const tag = this.#writeOwner();
    this.#state = { kind: "claiming", tag, ...(reload === undefined ? {} : { reload }) };
  }

  #writeOwner(): string {
    return this.#append({
      subject: this.#host.names.registryOwner(this.#partition),
      payload: this.#ownerKey.write(this.#host.moment().wallMs),
      headers: OWNER_HEADERS,
    });
  }

  #append(parts: Pick<AppendEffect, "subject" | "payload" | "headers" | "trace">): string {
    this.#round += 1;
    this.#sentAt = this.#host.registry.revision;
    const tag = `write.${this.#partition}.${this.#round}`;
    this.#host.out.fork({
      kind: "append",
      tag,
      stream: "REGISTRY",
      expect: {
        sequence: this.#fence,
        filter: this.#host.names.registryPartition(this.#partition),
      },
      write: this.#host.writeId(),
      ...parts,
    });
    return tag;
  }

  #stored({ id, record, jobs, results, traced }: WrittenWorkload, sequence: number): void {
    if (traced !== undefined) {
      const where = { workload: id, partition: this.#partition, revision: sequence };
      this.#host.out.push(writeSpan(traced, where, this.#host.moment().wallMs));
    }
    if (sequence > this.#host.registry.revision) {
      this.#own.set(id, { record, sequence });
    }
    if (record === undefined) {
      this.#ownerKey.demand();
    }
    this.#answer(jobs, results, sequence);
  }

  #current(id: string): Current {
    const own = this.#own.get(id);
    if (own !== undefined) {
      return own;
    }
    const stored = this.#host.registry.get(id);
    return { record: stored?.record, sequence: stored?.sequence ?? 0 };
  }

  #reload(): void {
    this.#round += 1;
    const reader = `reload.${this.#partition}.${this.#round}`;
    this.#state = { kind: "reloading", reload: new PartitionReload(reader, this.#host.names) };
    this.#host.out.fork({
      kind: "follow",
      reader,
      stream: "REGISTRY",
      filters: [this.#host.names.registryPartition(this.#partition)],
      from: "last-per-subject",
    });
  }

  #adopt(reload: PartitionReload, sequence: number): void {
    const { registry } = this.#host;
    this.#fence = reload.last;
    this.#own.clear();
    for (const [id, current] of reload.found) {
      if (current.sequence > registry.revision) {
        this.#own.set(id, current);
      }
    }
    for (const id of [...registry.idsOf(this.#partition)]) {
      if (!reload.seen(id) && (registry.get(id)?.sequence ?? 0) <= sequence) {
        this.#host.vanished(id);
      }
    }
  }

  #wait(jobs: readonly Job[], detail: string): void {
    this.#state = { kind: "waiting" };
    this.#refuse([...jobs, ...this.#queue.drain()], detail);
    const delayMs = RETRY_MS * (1 + this.#host.moment().random());
    this.#host.out.push({ kind: "timer", id: `retry.${this.#partition}`, delayMs });
  }

  #answer(jobs: readonly Job[], results: readonly Result[], revision: number): void {
    for (const [index, job] of jobs.entries()) {
      const result = results[index];
      if (result?.kind === "next") {
        const { changed, problems } = result;
        job.settle({ kind: "done", revision, changed, problems });
      } else if (result !== undefined) {
        job.settle(result);
      }
    }
  }

  #refuse(jobs: readonly Job[], why: string): void {
    for (const job of jobs) {
      job.settle(refused("unavailable", `${job.id} was not written: ${why}; try again`));
    }
  }
}
