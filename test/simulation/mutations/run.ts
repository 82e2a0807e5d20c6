// Shows that the checker bites: `pnpm simulate:mutations [--mutation NAME] [--seeds K] [--workers W]`.
import { readFlags } from "../../flags.ts";
import { simulateApart } from "../simulation-process.ts";
import { MUTATIONS, type Mutation } from "./mutations.ts";

const USAGE = "usage: simulate:mutations [--mutation NAME] [--seeds K] [--steps N] [--workers W]\n";
const values = readFlags(USAGE, {
  mutation: { type: "string" },
  seeds: { type: "string", default: "150" },
  steps: { type: "string", default: "300" },
  workers: { type: "string", default: "2" },
});

interface Result {
  readonly caught: boolean;
  readonly words: string;
}

/** Simulates one mutation until it is caught; what broke, or how many seeds did not see it. */
async function run({ name }: Mutation): Promise<Result> {
  const flags = ["--mutation", name, "--seeds", values.seeds, "--steps", values.steps];
  const { tally } = await simulateApart([...flags, "--no-shrink"]);
  if (tally === undefined) {
    return { caught: false, words: "the simulation itself failed" };
  }
  const { passed, violations } = tally;
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
