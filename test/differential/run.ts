/**
 * `pnpm differential --histories N --seed S` runs N random histories, the first with seed S, through
 * the engine in every expansion, and ends with `N passed, M failed`.
 */
import { parseArgs } from "node:util";
import { checkHistory } from "./check-history.ts";

/** Failures that are printed whole. */
const PRINTED_FAILURES = 5;

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
  },
});
const histories = Number(values.histories);
const first = Number(values.seed);
if (!Number.isInteger(histories) || !Number.isInteger(first) || histories < 1) {
  process.stderr.write("usage: differential [--histories N] [--seed S], both integers, N ≥ 1\n");
  process.exit(2);
}

process.stdout.write(`histories ${histories}, seeds ${first} to ${first + histories - 1}\n`);
let failed = 0;
for (let index = 0; index < histories; index++) {
  try {
    checkHistory(first + index);
  } catch (error) {
    failed += 1;
    if (failed <= PRINTED_FAILURES) {
      process.stdout.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    }
  }
}
process.stdout.write(`${histories - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
