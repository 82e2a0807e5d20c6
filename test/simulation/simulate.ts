import { Violation } from "./check/violation.ts";
import { generate } from "./schedule/generate.ts";
import type { Move, Setting } from "./schedule/move.ts";
import { Performer } from "./world/perform.ts";
import { settle } from "./world/settle.ts";
import { World } from "./world/world.ts";

/** What to simulate. */
export interface Run {
  readonly seed: number;
  readonly steps: number;
  /** Steps whose action happens; the others only let time pass. Default all. */
  readonly keep?: ReadonlySet<number>;
}

/** How a simulation ended. */
export interface Outcome {
  readonly seed: number;
  readonly violation: Violation | undefined;
  /** Step of the schedule at which it ended; `steps` while the world settled. */
  readonly atStep: number;
  /** Steps of all actors. */
  readonly actorSteps: number;
  /** Batches of versions that were held against a full render. */
  readonly rendersChecked: number;
  readonly virtualMs: number;
}

/** Runs a seed's schedule and lets the world settle. The same run gives the same outcome. */
export function simulate(run: Run, setting: Setting = generate(run.seed, run.steps)): Outcome {
  const world = new World(run.seed, setting);
  const performer = new Performer(world);
  let atStep = 0;
  let violation: Violation | undefined;
  try {
    for (const [step, move] of setting.moves.entries()) {
      atStep = step;
      perform(world, performer, move, run.keep?.has(step) ?? true);
    }
    atStep = setting.moves.length;
    settle(world, performer);
  } catch (error) {
    violation = asViolation(error);
  }
  return {
    seed: run.seed,
    violation,
    atStep,
    actorSteps: world.bus.steps,
    rendersChecked: world.checker.rendersChecked,
    virtualMs: world.bus.nowMs,
  };
}

function perform(world: World, performer: Performer, move: Move, happens: boolean): void {
  if (happens) {
    performer.perform(move.action);
  }
  world.bus.run(move.thenMs);
}

function asViolation(error: unknown): Violation {
  if (error instanceof Violation) {
    return error;
  }
  const words = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Violation("crash", words);
}
