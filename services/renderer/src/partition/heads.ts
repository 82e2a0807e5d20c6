import { PARTITIONS, partitionOf } from "@ringwall/bus";
import type { BodyChanges, Head } from "@ringwall/render";
import type { Inputs } from "@ringwall/wire";

/** What the last flush left of every workload, by partition, and what it was computed from. */
export class Heads {
  readonly #partitions: readonly Map<string, Head>[] = Array.from(
    { length: PARTITIONS },
    () => new Map(),
  );
  #inputs: Inputs | undefined;

  /** Inputs of the last flush; undefined before the first. */
  get inputs(): Inputs | undefined {
    return this.#inputs;
  }

  of(partition: number): ReadonlyMap<string, Head> {
    return this.#partitions[partition] ?? new Map();
  }

  /** Takes a flush and returns the partitions in which something changed, with the workloads. */
  take(changes: BodyChanges, inputs: Inputs): ReadonlyMap<number, ReadonlySet<string>> {
    this.#inputs = inputs;
    const touched = new Map<number, Set<string>>();
    const touch = (id: string) => {
      const partition = partitionOf(id);
      touched.set(partition, (touched.get(partition) ?? new Set()).add(id));
      return this.#partitions[partition];
    };
    for (const { to, workloads } of changes.steps) {
      for (const id of workloads) {
        touch(id)?.set(id, to);
      }
    }
    for (const id of changes.removed) {
      touch(id)?.delete(id);
    }
    return touched;
  }
}
