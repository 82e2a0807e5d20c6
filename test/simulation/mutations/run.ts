// Shows that the checker bites: `pnpm simulate:mutations [--mutation NAME] [--seeds K] [--workers W]`.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Tally } from "../run-seeds.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";

const { values } = parseArgs({
  options: {
    mutation: { type: "string" },
    seeds: { type: "string", default: "150" },
    steps: { type: "string", default: "200" },
    workers: { type: "string", default: "2" },
  },
});

interface Result {
  readonly caught: boolean;
  readonly words: string;
}

/** Simulates one mutation until it is caught; what broke, or how many seeds did not see it. */
function run({ name }: Mutation): Promise<Result> {
  const script = join(import.meta.dirname, "..", "main.ts");
  const flags = ["--mutation", name, "--seeds", values.seeds, "--steps", values.steps];
  const child = spawn(process.execPath, [script, ...flags, "--no-shrink"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve) => {
    child.once("close", () => resolve(resultOf(text)));
  });
}

function resultOf(text: string): Result {
  const line = text.split("\n").findLast((each) => each.startsWith("{"));
  if (line === undefined) {
    return { caught: false, words: "the simulation itself failed" };
  }
  // The process writes its own Tally there.
  const { passed, violations } = JSON.parse(line) as Tally;
  const [first] = violations;
  if (first === undefined) {
    return { caught: false, words: `not seen in ${passed} seeds` };
  }
  const detail = first.detail.split("\n")[0]?.slice(0, 150) ?? "";
  return { caught: true, words: `${first.invariant} at seed ${first.seed}: ${detail}` };
}

const wanted = MUTATIONS.filter(({ name }) => name === (values.mutation ?? name));
const queue = [...wanted];
let caught = 0;
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = await run(next);
      caught += result.caught ? 1 : 0;
      const mark = result.caught ? "caught" : "MISSED";
      process.stdout.write(`${mark}  ${next.name} (${next.words}): ${result.words}\n`);
    }
  }),
);
process.stdout.write(`${caught} passed, ${wanted.length - caught} failed\n`);
process.exitCode = caught === wanted.length && caught > 0 ? 0 : 1;
