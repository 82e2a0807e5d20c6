/**
 * `pnpm differential --histories N --seed S` runs N random histories, the first with seed S, through
 * the engine in every expansion, and after each hundred a larger estate; ends with
 * `N passed, M failed`.
 */
import { readFlags } from "../flags.ts";
import { checkChurn } from "./check-churn.ts";
import { checkHistory } from "./check-history.ts";

/** Failures that are printed whole. */
const PRINTED_FAILURES = 5;
/** Histories between two larger estates. */
const HISTORIES_PER_CHURN = 100;

const USAGE = "usage: differential [--histories N] [--seed S], both integers, N ≥ 1\n";
const values = readFlags(USAGE, {
  histories: { type: "string", default: "1000" },
  seed: { type: "string", default: "1" },
});
const histories = Number(values.histories);
const first = Number(values.seed);
if (!Number.isInteger(histories) || !Number.isInteger(first) || histories < 1) {
  process.stderr.write(USAGE);
  process.exit(2);
}

process.stdout.write(`histories ${histories}, seeds ${first} to ${first + histories - 1}\n`);
let passed = 0;
let failed = 0;
for (let index = 0; index < histories; index++) {
  run(() => checkHistory(first + index));
  if (index % HISTORIES_PER_CHURN === 0) {
    run(() => checkChurn(first + index));
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

function run(check: () => void): void {
  try {
    check();
    passed += 1;
  } catch (error) {
    failed += 1;
    if (failed <= PRINTED_FAILURES) {
      process.stdout.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    }
  }
}
