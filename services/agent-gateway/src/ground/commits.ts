import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { ConfigRecordSchema, type Inputs } from "@ringwall/wire";
import { toHex } from "../wire/hex.ts";

/** Which commits CONFIG has, and which lost ones an operator has overruled. */
export class Commits {
  readonly #ids = new Map<number, string>();
  readonly #times = new Map<number, number>();
  readonly #overruled = new Set<string>();
  #generation = 0n;
  #environment = "";
  /** Id of the head commit; empty before the first one. */
  #head = "";
  #lastSequence = 0;

  /** Present generation; 0 before the first commit. */
  get generation(): bigint {
    return this.#generation;
  }

  /** Environment that the first commit names; empty before it. */
  get environment(): string {
    return this.#environment;
  }

  /** Number of commits. */
  get count(): number {
    return this.#ids.size;
  }

  /** Sequence of the last record. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Takes a record of CONFIG; false if it can't be read. */
  take(record: StoredRecord): boolean {
    this.#lastSequence = Math.max(this.#lastSequence, record.sequence);
    let content: ReturnType<typeof readRecord>;
    try {
      content = readRecord(record.payload);
    } catch {
      return false;
    }
    if (content.case === "commit") {
      const commit = content.value;
      if (toHex(commit.parent) !== this.#head) {
        // It lost its race: nobody counts it.
        return true;
      }
      this.#head = toHex(commit.id);
      this.#ids.set(record.sequence, this.#head);
      this.#times.set(record.sequence, record.timeUnixMs);
      this.#generation = commit.generation > 0n ? commit.generation : this.#generation;
      this.#environment = commit.environment === "" ? this.#environment : commit.environment;
    } else if (content.case === "acceptState") {
      this.#generation = content.value.generation;
      for (const { configSequence, commitId } of content.value.overruled) {
        this.#overruled.add(commitKey(configSequence, commitId));
      }
    }
    return true;
  }

  /** Forgets everything: the stream is another one. */
  clear(): void {
    this.#ids.clear();
    this.#times.clear();
    this.#overruled.clear();
    this.#generation = 0n;
    this.#environment = "";
    this.#head = "";
    this.#lastSequence = 0;
  }

  /** True if CONFIG has the commit that the inputs name, or an operator overruled it. */
  has(inputs: Inputs): boolean {
    return (
      this.#ids.get(Number(inputs.configSequence)) === toHex(inputs.commitId) ||
      this.#overruled.has(commitKey(inputs.configSequence, inputs.commitId))
    );
  }

  /** When a commit was stored, Unix milliseconds. */
  timeOf(sequence: number): number | undefined {
    return this.#times.get(sequence);
  }
}

function readRecord(payload: Uint8Array) {
  return fromBinary(ConfigRecordSchema, payload).record;
}

/** A commit is overruled in whichever generation it is named, as it is for keepers and renderers. */
function commitKey(sequence: bigint, id: Uint8Array): string {
  return `${sequence}:${toHex(id)}`;
}
