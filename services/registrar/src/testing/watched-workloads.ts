import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { type WatchFrame, type WorkloadRecord, WorkloadRecordSchema } from "@ringwall/wire";

/** What a watching client knows, by the rules of the stream. */
export class WatchedWorkloads {
  readonly #workloads = new Map<string, WorkloadRecord>();
  #complete = false;
  #revision = 0n;

  /** True once a snapshot has ended. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Where the client may resume. */
  get revision(): bigint {
    return this.#revision;
  }

  take(frame: WatchFrame): void {
    const begins = frame.seq === 1n && frame.revision === 0n;
    if (begins || frame.body.case === "resync") {
      this.#workloads.clear();
      this.#complete = false;
    }
    if (frame.body.case === "endOfSnapshot") {
      this.#complete = true;
    } else if (frame.body.case === "workloads") {
      for (const record of frame.body.value.upserts) {
        this.#workloads.set(record.id, record);
      }
      for (const id of frame.body.value.removes) {
        this.#workloads.delete(id);
      }
    }
    this.#revision = frame.body.case === "resync" ? 0n : frame.revision;
  }

  ids(): string[] {
    return [...this.#workloads.keys()].sort();
  }

  digest(): string {
    return digestOf(this.#workloads.values());
  }
}

/** Digest of a set of workloads, whatever their order. */
export function digestOf(workloads: Iterable<WorkloadRecord>): string {
  const hash = createHash("sha256");
  for (const record of [...workloads].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    hash.update(toBinary(WorkloadRecordSchema, record));
  }
  return hash.digest("hex");
}
