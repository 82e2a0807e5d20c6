import { parseArgs } from "node:util";
import { MUTATIONS, type Mutation } from "./mutations/mutations.ts";

/** What a process is to simulate. */
export interface Options {
  readonly seed: number;
  readonly seeds: number;
  readonly steps: number;
  readonly partitions: number;
  readonly workers: number;
  readonly keep: string | undefined;
  readonly mutation: Mutation | undefined;
  /** True: the corpus instead of a range of seeds. */
  readonly corpus: boolean;
  readonly shrink: boolean;
  /** Ends when this much time has passed, with what was done until then. */
  readonly limitMs: number;
  /** True: prints each seed. */
  readonly verbose: boolean;
}

/** Text of `--help`. */
export const HELP = `Simulates a whole control plane under faults and checks its invariants.

  --seed S          first seed; default 1
  --seeds K         how many seeds; default 1
  --steps N         steps of the schedule: an operation or a fault, then some time; default 500
  --partitions P    partitions of the control plane; default 4, outside it is 64
  --workers W       processes; default 1
  --keep STEPS      only these actions happen, such as 3,17,20-25: a shrunk schedule
  --mutation NAME   breaks the product on purpose; see mutations/mutations.ts
  --corpus          the seeds of the corpus, each with its own steps and partitions
  --limit SECONDS   begins no further seed after this time; default a day
  --no-shrink       prints a violation as it is
  --verbose         prints every seed
`;

/** Reads the command line; throws RangeError for what is out of range. */
export function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seed: { type: "string", default: "1" },
      seeds: { type: "string", default: "1" },
      steps: { type: "string", default: "500" },
      partitions: { type: "string", default: "4" },
      workers: { type: "string", default: "1" },
      limit: { type: "string", default: "86400" },
      keep: { type: "string" },
      mutation: { type: "string" },
      corpus: { type: "boolean", default: false },
      "no-shrink": { type: "boolean", default: false },
      verbose: { type: "boolean", default: false },
    },
    strict: true,
    allowPositionals: false,
  });
  const mutation = MUTATIONS.find(({ name }) => name === values.mutation);
  if (values.mutation !== undefined && mutation === undefined) {
    const known = MUTATIONS.map(({ name }) => name).join(", ");
    throw new RangeError(`--mutation "${values.mutation}" is none of ${known}`);
  }
  return {
    seed: whole("seed", values.seed, 0, 2 ** 31),
    seeds: whole("seeds", values.seeds, 1, 1_000_000),
    steps: whole("steps", values.steps, 1, 100_000),
    partitions: whole("partitions", values.partitions, 1, 64),
    workers: whole("workers", values.workers, 1, 64),
    limitMs: 1000 * whole("limit", values.limit, 1, 86_400),
    keep: values.keep,
    mutation,
    corpus: values.corpus,
    shrink: !values["no-shrink"],
    verbose: values.verbose,
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new RangeError(
      `--${name} is "${text}"; it must be a whole number from ${least} to ${most}`,
    );
  }
  return value;
}
