// Runs vector files against the packages: `pnpm vectors FILE.jsonl…`.
import { readFile } from "node:fs/promises";
import { type Outcome, runVectors } from "./runner.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Prints what did not pass and the sum; returns the exit code. */
async function main(files: readonly string[]): Promise<number> {
  if (files.length === 0) {
    process.stderr.write("usage: pnpm vectors FILE.jsonl…\n");
    return EXIT_USAGE;
  }
  const outcomes: Outcome[] = [];
  for (const file of files) {
    let text: string;
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      return EXIT_USAGE;
    }
    const ran = await runVectors(text);
    report(file, ran);
    outcomes.push(...ran);
  }
  const passed = outcomes.filter(({ verdict }) => verdict === "passed").length;
  const failed = outcomes.length - passed;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : EXIT_FAILED;
}

function report(file: string, outcomes: readonly Outcome[]): void {
  for (const { id, fn, verdict, detail } of outcomes) {
    if (verdict !== "failed") continue;
    process.stdout.write(
      `FAIL ${id} ${fn} (${file})\n${detail.map((line) => `  ${line}\n`).join("")}`,
    );
  }
  const unknown = new Map<string, number>();
  for (const { verdict, detail } of outcomes) {
    if (verdict !== "unknown") continue;
    const why = detail.join(" ");
    unknown.set(why, (unknown.get(why) ?? 0) + 1);
  }
  for (const [why, count] of unknown) {
    process.stdout.write(`UNKNOWN ${why} (${file}, ${count} counted as failed)\n`);
  }
}

process.exitCode = await main(process.argv.slice(2));
