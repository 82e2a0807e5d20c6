import { Bench } from "./bench.ts";
import { advance, body, stored } from "./records.ts";

export const A = body("10.0.0.1/32");
export const B = body("10.0.0.2/32");
export const C = body("10.0.0.3/32");

/** Stores the objects of bodies. */
export function store(bench: Bench, ...policies: (typeof A)[]): void {
  for (const policy of policies) {
    for (const entry of stored("rw", policy)) bench.feed(entry);
  }
}

/** A gateway whose log has version 1 with body A. */
export function withHead(): Bench {
  const bench = Bench.ready();
  store(bench, A);
  bench.feed(advance("rw", "web-1", undefined, { version: 1, policy: A }));
  return bench;
}

/** A gateway with an agent that has acknowledged version 1. */
export function synced(): Bench {
  const bench = withHead();
  bench.hello();
  bench.ack(bench.push());
  return bench;
}

/** The workload takes a step from one version and body to the next. */
export function step(
  bench: Bench,
  from: number,
  to: number,
  bodies: readonly [typeof A, typeof A],
): void {
  store(bench, bodies[1]);
  const [before, after] = bodies;
  bench.feed(
    advance("rw", "web-1", { version: from, policy: before }, { version: to, policy: after }),
  );
}
