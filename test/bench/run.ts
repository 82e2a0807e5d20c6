/**
 * `pnpm bench NAME…` runs test/bench/NAME.ts, each in turn. A benchmark is a file that exports
 * `bench`, a function without arguments.
 */
import { readdirSync } from "node:fs";

const SHARED = new Set(["run.ts", "harness.ts"]);

type BenchModule = { readonly bench?: () => void | Promise<void> };

const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !SHARED.has(file))
  .map((file) => file.slice(0, -".ts".length))
  .sort();

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));
if (wanted.length === 0 || unknown.length > 0) {
  const problem = wanted.length === 0 ? "no benchmark named" : `unknown: ${unknown.join(", ")}`;
  process.stderr.write(`bench: ${problem}; there are: ${known.join(", ")}\n`);
  process.exit(2);
}

for (const name of wanted) {
  // Only the export is relied on, and it is looked at before it is called.
  const module = (await import(`./${name}.ts`)) as BenchModule;
  if (module.bench === undefined) {
    process.stderr.write(`bench: test/bench/${name}.ts exports no function "bench"\n`);
    process.exit(2);
  }
  await module.bench();
}
