import type { Task } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import { describe, expect, it } from "vitest";
import { CheckpointBook } from "./checkpoint-book.ts";
import { configCheckpointBytes, readConfigCheckpoint } from "./config-checkpoint.ts";
import { checkpointParts } from "./version-parts.ts";

const NAMES = names();
const A = "a".repeat(64);

function finish<Result>(task: Task<Result>): Result {
  for (;;) {
    const next = task.next("signalled");
    if (next.done === true) {
      return next.value;
    }
  }
}

function partsOf(covered: number, heads: number, epoch = 1n): Uint8Array[] {
  const frame = {
    epoch,
    streamCreatedUnixNs: 7n,
    coveredSequence: covered,
    inputs: undefined,
    rendered: { streamCreatedUnixNs: 8n, sequence: 9 },
    registryCreatedUnixNs: 5n,
    configCreatedUnixNs: 6n,
  };
  const list = Array.from(
    { length: heads },
    (_, n) =>
      [`workload-with-a-long-name-${n}`, { version: n + 1, digest: n === 0 ? "" : A }] as const,
  );
  return finish(checkpointParts(frame, list));
}

function record(slot: "a" | "b", index: number, payload: Uint8Array, sequence: number) {
  const subject = NAMES.checkpoint("version", 3, slot, index);
  return { subject, sequence, payload, headers: {}, timeUnixMs: 0 };
}

describe("CheckpointBook", () => {
  it("gives back what was written in several parts, and the fence of each", () => {
    const book = new CheckpointBook(NAMES);
    const parts = partsOf(100, 9_000);
    expect(parts.length).toBeGreaterThan(1);
    for (const [index, payload] of parts.entries()) {
      expect(payload.length).toBeLessThanOrEqual(512 * 1024);
      expect(book.take(record("a", index, payload, 10 + index))).toBe(true);
    }
    const snapshot = book.snapshot(3);
    expect(snapshot).toMatchObject({ epoch: 1n, coveredSequence: 100, rendered: { sequence: 9 } });
    const heads = new Map(snapshot?.heads ?? []);
    expect(heads.size).toBe(9_000);
    expect(heads.get("workload-with-a-long-name-0")).toEqual({ version: 1, digest: "" });
    expect(heads.get("workload-with-a-long-name-8")).toEqual({ version: 9, digest: A });
    expect(book.sequence(NAMES.checkpoint("version", 3, "a", 1))).toBe(11);
    expect(book.sequence(NAMES.checkpoint("version", 3, "b", 0))).toBe(0);
  });

  it("falls back to the other place when one was not written to its end", () => {
    const book = new CheckpointBook(NAMES);
    book.take(record("b", 0, partsOf(50, 1)[0] ?? new Uint8Array(0), 1));
    const [first = new Uint8Array(0)] = partsOf(100, 9_000);
    book.take(record("a", 0, first, 2));
    expect(book.ofPartition(3).map(({ slot }) => slot)).toEqual(["b"]);
  });

  it("ignores parts that an earlier, longer checkpoint left behind", () => {
    const book = new CheckpointBook(NAMES);
    const old = partsOf(50, 9_000).at(-1) ?? new Uint8Array(0);
    book.take(record("a", 1, old, 1));
    book.take(record("a", 0, partsOf(100, 1)[0] ?? new Uint8Array(0), 2));
    expect(book.ofPartition(3)[0]?.coveredSequence).toBe(100);
  });

  it("puts the one of a later epoch first, then the one that reaches further", () => {
    const book = new CheckpointBook(NAMES);
    book.take(record("a", 0, partsOf(500, 1)[0] ?? new Uint8Array(0), 1));
    book.take(record("b", 0, partsOf(10, 1, 2n)[0] ?? new Uint8Array(0), 2));
    expect(book.ofPartition(3).map(({ slot }) => slot)).toEqual(["b", "a"]);
  });

  it("does not take a damaged one", () => {
    const book = new CheckpointBook(NAMES);
    const [payload = new Uint8Array(0)] = partsOf(100, 3);
    const damaged = payload.slice();
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    book.take(record("a", 0, damaged, 1));
    expect(book.ofPartition(3)).toEqual([]);
    const config = configCheckpointBytes({
      streamCreatedUnixNs: 1n,
      coveredSequence: 2,
      inputs: {
        $typeName: "ringwall.v1.Inputs",
        generation: 1n,
        configSequence: 2n,
        commitId: new Uint8Array(32),
        registryRevision: 3n,
        registryTimeUnixMs: 0n,
      },
      commits: 1,
      treeSha256: new Uint8Array(32),
      registryCreatedUnixNs: 4n,
    });
    expect(readConfigCheckpoint(config)?.registryCreatedUnixNs).toBe(4n);
    config[1] = (config[1] ?? 0) ^ 1;
    expect(readConfigCheckpoint(config)).toBeUndefined();
  });
});
