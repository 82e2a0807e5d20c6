import { corpus } from "./corpus.ts";
import type { Options } from "./options.ts";
import type { Tally } from "./run-seeds.ts";
import { simulateApart } from "./simulation-process.ts";

/** Seeds that one process simulates before another takes over: its caches stay small. */
const SEEDS_PER_PROCESS = 100;

interface Job {
  readonly seed: number;
  readonly seeds: number;
  readonly steps: number;
  readonly partitions: number;
}

/** Simulates in several processes, and adds up what they say. Returns the exit code. */
export async function runWorkers(options: Options): Promise<number> {
  const jobs = options.corpus ? corpusJobs() : rangeJobs(options);
  const tallies: Tally[] = [];
  const beganMs = performance.now();
  const untilMs = beganMs + options.limitMs;
  let broken = false;
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const leftMs = untilMs - performance.now();
      if (leftMs < 1000) {
        return;
      }
      const tally = await runJob(job, options, leftMs);
      if (tally === undefined) {
        broken = true;
      } else {
        tallies.push(tally);
      }
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  return conclude(tallies, performance.now() - beganMs, broken);
}

function conclude(tallies: readonly Tally[], tookMs: number, broken: boolean): number {
  const sum = (of: (tally: Tally) => number) =>
    tallies.reduce((total, each) => total + of(each), 0);
  const [passed, failed] = [sum((each) => each.passed), sum((each) => each.failed)];
  const [actorSteps, cpuMs] = [sum((each) => each.actorSteps), sum((each) => each.cpuMs)];
  for (const { seed, invariant, detail } of tallies.flatMap(({ violations }) => violations)) {
    say(`seed ${seed} breaks ${invariant}: ${detail}`);
  }
  const rate = Math.round(actorSteps / (cpuMs / 1000));
  const virtual = Math.round(sum((each) => each.virtualMs) / 3_600_000);
  say(
    `${sum((each) => each.steps)} steps, ${actorSteps} actor steps, ${virtual} h virtual, ` +
      `${sum((each) => each.rendersChecked)} batches held against full renders, ` +
      `${Math.round(tookMs / 1000)} s, ${rate} actor steps a CPU second`,
  );
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 && !broken ? 0 : 1;
}

function rangeJobs({ seed, seeds, steps, partitions }: Options): Job[] {
  const jobs: Job[] = [];
  for (let done = 0; done < seeds; done += SEEDS_PER_PROCESS) {
    const count = Math.min(SEEDS_PER_PROCESS, seeds - done);
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
async function runJob(job: Job, options: Options, leftMs: number): Promise<Tally | undefined> {
  const flags = [
    ...["--seed", job.seed, "--seeds", job.seeds, "--steps", job.steps],
    ...["--partitions", job.partitions, "--limit", Math.max(1, Math.round(leftMs / 1000))],
    ...(options.mutation === undefined ? [] : ["--mutation", options.mutation.name]),
    ...(options.shrink ? [] : ["--no-shrink"]),
  ];
  const { text, tally } = await simulateApart(flags.map(String));
  if (tally === undefined || tally.failed > 0) {
    process.stdout.write(text);
  }
  return tally;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
