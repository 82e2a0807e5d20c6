import assert from "node:assert/strict";
import {
  type BodyChanges,
  type Engine,
  type Head,
  renderSteps,
  type SourceChange,
} from "@ringwall/render";
import { bodyDigest } from "@ringwall/rendered";
import type { Estate } from "@ringwall/testkit";

/** Changes that make up an estate. */
export function snapshotOf({ configuration, workloads }: Estate): SourceChange[] {
  const changes: SourceChange[] = [{ kind: "configuration", configuration }];
  for (const workload of workloads) {
    changes.push({ kind: "workload", workload });
  }
  return changes;
}

/** Works off one flush. */
export function flush(engine: Engine, changes: readonly SourceChange[]): BodyChanges {
  engine.apply(changes);
  engine.begin();
  for (;;) {
    const done = engine.work();
    if (done !== undefined) {
      return done;
    }
  }
}

/** Renders an estate whole, with a digest for each body; the heads and the milliseconds it took. */
export function renderWhole({ configuration, workloads }: Estate): {
  readonly milliseconds: number;
  readonly digests: ReadonlyMap<string, string>;
} {
  const start = performance.now();
  const steps = renderSteps(configuration, workloads);
  let step = steps.next();
  while (!step.done) {
    step = steps.next();
  }
  const digests = new Map<string, string>();
  for (const [id, { outcome }] of step.value.renderings) {
    digests.set(id, "policy" in outcome ? bodyDigest(outcome.policy) : "refused");
  }
  return { milliseconds: performance.now() - start, digests };
}

/** Fails unless the engine's heads are those of the full render. */
export function assertSameHeads(
  heads: ReadonlyMap<string, Head>,
  digests: ReadonlyMap<string, string>,
): void {
  assert.equal(heads.size, digests.size);
  for (const [id, digest] of digests) {
    const head = heads.get(id);
    assert.equal(head?.kind === "body" ? head.digest : head?.kind, digest, `head of ${id}`);
  }
}

/** Collects what is left of making inputs, so that it does not count as peak memory later. */
export function collectGarbage(): void {
  globalThis.gc?.();
}

/** Microseconds that this thread has been on a processor, which other processes do not add to. */
export function threadCpu(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
