import { corpus } from "./corpus.ts";
import type { Options } from "./options.ts";
import type { Tally } from "./run-seeds.ts";
import { simulateApart } from "./simulation-process.ts";

/**
 * Seeds that one process simulates before another takes over: its caches stay small, and it runs most
 * of them after everything was compiled.
 */
const SEEDS_PER_PROCESS = 250;

/** Seeds after which a long run says how far it is. */
const SEEDS_PER_WORD = 100;

interface Job {
  readonly seed: number;
  readonly seeds: number;
  readonly steps: number;
  readonly partitions: number;
}

/** Simulates in several processes, and adds up what they say. Returns the exit code. */
export async function runWorkers(options: Options): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // Only a process that exits by itself takes its simulations with it.
    process.once(signal, () => process.exit(1));
  }
  const jobs = options.corpus ? corpusJobs() : rangeJobs(options);
  const tallies: Tally[] = [];
  const beganMs = performance.now();
  const progress = new Progress(jobs, beganMs, options.verbose);
  const untilMs = beganMs + options.limitMs;
  let broken = false;
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const leftMs = untilMs - performance.now();
      if (leftMs < 1000) {
        return;
      }
      const tally = await runJob(job, options, leftMs, progress);
      if (tally === undefined) {
        broken = true;
      } else {
        tallies.push(tally);
      }
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  return conclude(tallies, progress, broken);
}

/** How far the processes are, said now and then. */
class Progress {
  readonly seeds: number;
  readonly #beganMs: number;
  readonly #verbose: boolean;
  #done = 0;
  #failed = 0;

  constructor(jobs: readonly Job[], beganMs: number, verbose: boolean) {
    this.seeds = jobs.reduce((sum, job) => sum + job.seeds, 0);
    this.#beganMs = beganMs;
    this.#verbose = verbose;
  }

  get tookS(): number {
    return Math.round((performance.now() - this.#beganMs) / 1000);
  }

  /** Hears a line of a process. */
  hear(line: string): void {
    if (!SEED_ENDED.test(line)) {
      return;
    }
    const passed = SEED_PASSED.test(line);
    this.#done += 1;
    this.#failed += passed ? 0 : 1;
    if (this.#verbose || !passed) {
      say(line);
    }
    if (this.#done % SEEDS_PER_WORD === 0) {
      say(`${this.#done} of ${this.seeds} seeds, ${this.#failed} violations, ${this.tookS} s`);
    }
  }
}

/** Lines that a process says of a seed that has ended. */
const SEED_ENDED = /^seed \d+: /;
const SEED_PASSED = /^seed \d+: ok /;

function conclude(tallies: readonly Tally[], progress: Progress, broken: boolean): number {
  const sum = (of: (tally: Tally) => number) =>
    tallies.reduce((total, each) => total + of(each), 0);
  const [passed, failed] = [sum((each) => each.passed), sum((each) => each.failed)];
  const [actorSteps, cpuS] = [sum((each) => each.actorSteps), sum((each) => each.cpuMs) / 1000];
  for (const { seed, invariant, detail } of tallies.flatMap(({ violations }) => violations)) {
    say(`seed ${seed} breaks ${invariant}: ${detail}`);
  }
  const virtual = Math.round(sum((each) => each.virtualMs) / 3_600_000);
  say(
    `${passed + failed} of ${progress.seeds} seeds, ${sum((each) => each.steps)} steps, ` +
      `${failed} violations, ${progress.tookS} s; ${actorSteps} actor steps, ${virtual} h virtual, ` +
      `${sum((each) => each.rendersChecked)} batches held against full renders, ` +
      `${Math.round(actorSteps / cpuS)} actor steps a CPU second`,
  );
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 && !broken ? 0 : 1;
}

function rangeJobs({ seed, seeds, steps, partitions, workers }: Options): Job[] {
  const jobs: Job[] = [];
  const most = Math.min(SEEDS_PER_PROCESS, Math.ceil(seeds / workers));
  for (let done = 0; done < seeds; done += most) {
    const count = Math.min(most, seeds - done);
    jobs.push({ seed: seed + done, seeds: count, steps, partitions });
  }
  return jobs;
}

/** Neighbouring entries that differ in the seed only are one job. */
function corpusJobs(): Job[] {
  const jobs: Job[] = [];
  for (const { seed, steps, partitions } of corpus()) {
    const last = jobs.at(-1);
    const joins =
      last !== undefined &&
      last.steps === steps &&
      last.partitions === partitions &&
      last.seed + last.seeds === seed &&
      last.seeds < 20;
    if (joins) {
      jobs[jobs.length - 1] = { ...last, seeds: last.seeds + 1 };
    } else {
      jobs.push({ seed, seeds: 1, steps, partitions });
    }
  }
  return jobs;
}

/** Runs one process; undefined if it did not end with a tally. */
async function runJob(
  job: Job,
  options: Options,
  leftMs: number,
  progress: Progress,
): Promise<Tally | undefined> {
  const flags = [
    "--verbose",
    ...["--seed", job.seed, "--seeds", job.seeds, "--steps", job.steps],
    ...["--partitions", job.partitions, "--limit", Math.max(1, Math.round(leftMs / 1000))],
    ...(options.mutation === undefined ? [] : ["--mutation", options.mutation.name]),
    ...(options.shrink ? [] : ["--no-shrink"]),
  ];
  const { text, tally } = await simulateApart(flags.map(String), (line) => progress.hear(line));
  if (tally === undefined || tally.failed > 0) {
    say(
      text
        .split("\n")
        .filter((line) => !SEED_ENDED.test(line))
        .join("\n"),
    );
  }
  return tally;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
