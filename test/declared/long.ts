/**
 * `pnpm declared:long --trees N --seed S` checks the laws of declared trees on N generated live
 * sides, half of each profile, and ends with `N passed, M failed`. A failure prints its seed, the
 * path to it and the smallest tree that fails.
 */
import { inspect } from "node:util";
import { IGNITION, type Profile, RINGWALL } from "@ringwall/declared";
import fc from "fast-check";
import { readFlags } from "../flags.ts";
import { checkLaws } from "./laws.ts";
import { ignitionSides, type LiveSide, ringwallSides } from "./live-sides.ts";

const BATCH = 500;

const USAGE = "usage: declared:long [--trees N] [--seed S], both integers, N ≥ 2\n";
const values = readFlags(USAGE, {
  trees: { type: "string", default: "20000" },
  seed: { type: "string" },
});
const trees = Number(values.trees);
const seed = values.seed === undefined ? Date.now() >>> 0 : Number(values.seed);
if (!Number.isInteger(trees) || trees < 2 || !Number.isInteger(seed)) {
  process.stderr.write(USAGE);
  process.exit(2);
}
process.stdout.write(`seed ${seed}\n`);

let passed = 0;
let failed = 0;
const started = performance.now();
const profiles: readonly (readonly [Profile, fc.Arbitrary<LiveSide>])[] = [
  [IGNITION, ignitionSides],
  [RINGWALL, ringwallSides],
];
for (const [profile, sides] of profiles) {
  for (let done = 0; done < trees / 2; done += BATCH) {
    runBatch(profile, sides, done, Math.min(BATCH, Math.ceil(trees / 2) - done));
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(`${profile.name}: ${passed + failed} trees in all after ${seconds} s\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

function runBatch(
  profile: Profile,
  sides: fc.Arbitrary<LiveSide>,
  done: number,
  count: number,
): void {
  const outcome = fc.check(
    fc.property(sides, (side) => checkLaws(profile, side)),
    { numRuns: count, seed: seed + done },
  );
  if (!outcome.failed) {
    passed += count;
    return;
  }
  passed += Math.max(0, outcome.numRuns - 1);
  failed += 1;
  process.stdout.write(
    `FAIL ${profile.name}\n${fc.defaultReportMessage(outcome)}\n${inspect(outcome.errorInstance)}\n`,
  );
}
