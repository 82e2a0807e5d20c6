import type { Options } from "./options.ts";
import { generate } from "./schedule/generate.ts";
import { describeAction } from "./schedule/move.ts";
import { formatSteps, parseSteps, shrink } from "./shrink.ts";
import { type Outcome, simulate } from "./simulate.ts";

/** Violations after which a process gives up. */
const MOST_FAILED = 10;
const SHRINK_TRIES = 400;
const SHRINK_MS = 120_000;

/** What a process has simulated. Its last line is this as JSON, for whoever started it. */
export interface Tally {
  passed: number;
  failed: number;
  steps: number;
  actorSteps: number;
  rendersChecked: number;
  virtualMs: number;
  cpuMs: number;
  /** Invariants that were broken, with the seed. */
  violations: { readonly seed: number; readonly invariant: string; readonly detail: string }[];
}

/** Simulates a range of seeds in this process. Returns the exit code. */
export function runSeeds(options: Options): number {
  const tally: Tally = {
    passed: 0,
    failed: 0,
    steps: 0,
    actorSteps: 0,
    rendersChecked: 0,
    virtualMs: 0,
    cpuMs: 0,
    violations: [],
  };
  const beganMs = performance.now();
  for (let seed = options.seed; seed < options.seed + options.seeds; seed += 1) {
    if (performance.now() - beganMs > options.limitMs) {
      break;
    }
    const outcome = simulate({
      seed,
      steps: options.steps,
      ...(options.keep === undefined ? {} : { keep: parseSteps(options.keep) }),
    });
    add(tally, outcome, options.steps);
    if (options.verbose) {
      say(`seed ${seed}: ${summary(outcome)}`);
    }
    if (outcome.violation !== undefined) {
      report(options, outcome);
      if (options.mutation !== undefined || tally.failed >= MOST_FAILED) {
        break;
      }
    }
  }
  const { user, system } = process.cpuUsage();
  tally.cpuMs = Math.round((user + system) / 1000);
  const rate = Math.round(tally.actorSteps / (tally.cpuMs / 1000));
  say(`${tally.steps} steps, ${tally.actorSteps} actor steps, ${rate} a CPU second`);
  say(JSON.stringify(tally));
  say(`${tally.passed} passed, ${tally.failed} failed`);
  return tally.failed === 0 ? 0 : 1;
}

function add(tally: Tally, outcome: Outcome, steps: number): void {
  const { violation, seed } = outcome;
  tally.steps += Math.min(outcome.atStep + 1, steps);
  tally.actorSteps += outcome.actorSteps;
  tally.rendersChecked += outcome.rendersChecked;
  tally.virtualMs += Math.round(outcome.virtualMs);
  if (violation === undefined) {
    tally.passed += 1;
  } else {
    tally.failed += 1;
    const { invariant, detail } = violation;
    tally.violations.push({ seed, invariant, detail: detail.slice(0, 400) });
  }
}

function summary({ violation, actorSteps, virtualMs }: Outcome): string {
  const words = violation === undefined ? "ok" : violation.message.slice(0, 300);
  return `${words} (${actorSteps} actor steps, ${Math.round(virtualMs / 1000)} s virtual)`;
}

/** Says what broke, and the shortest schedule that breaks it. */
function report(options: Options, failed: Outcome): void {
  const { seed } = failed;
  const setting = generate(seed, options.steps);
  say(`\nseed ${seed} breaks ${failed.violation?.message}`);
  const where = failed.atStep < options.steps ? `in step ${failed.atStep}` : "after faults stopped";
  say(`${where}, after ${failed.actorSteps} actor steps`);
  if (!options.shrink || options.keep !== undefined) {
    return;
  }
  const untilMs = performance.now() + SHRINK_MS;
  const { keep, tries } = shrink(seed, setting, failed, { tries: SHRINK_TRIES, untilMs });
  say(`\n${keep.length} of ${options.steps} actions break it (${tries} simulations):`);
  for (const step of keep) {
    const move = setting.moves[step];
    if (move !== undefined) {
      say(`  ${step}: ${describeAction(move.action)}`);
    }
  }
  const own = [
    ...(options.partitions === 4 ? [] : [`--partitions ${options.partitions}`]),
    ...(options.mutation === undefined ? [] : [`--mutation ${options.mutation.name}`]),
  ];
  const flags = [
    `--seed ${seed}`,
    `--steps ${options.steps}`,
    `--keep ${formatSteps(keep)}`,
    ...own,
  ];
  say(`\npnpm simulate ${flags.join(" ")}\n`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
