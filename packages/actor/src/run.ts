import { Actor } from "./actor.ts";
import type { Clock } from "./clock.ts";
import type { Driver } from "./driver.ts";
import type { Reducer } from "./reducer.ts";

/** Longest time that an actor keeps the process to itself before others have their turn. */
const TURN_MS = 8;

/** A step that takes longer is told of. */
const STEP_LIMIT_MS = 10;

/** How often a stopping actor looks whether it is idle. */
const DRAIN_POLL_MS = 5;

/** Options of a running actor. */
export interface RunOptions {
  /** Told of each step that took longer than 10 ms. */
  readonly onSlowStep?: (messageKind: string, tookMs: number) => void;
}

/** A running actor. */
export interface RunningActor {
  /** Messages waiting. */
  readonly depth: number;
  /** Core deliveries dropped because too many messages waited. */
  readonly dropped: number;
  /** Rejects when the reducer throws, which ends the actor; fulfils when it was stopped. */
  readonly ended: Promise<void>;
  /**
   * Takes in nothing new, delivers `stop`, and runs on until nothing waits and every effect is
   * acknowledged, at most `deadlineMs` long. True if it came to rest in time.
   */
  stop(deadlineMs: number): Promise<boolean>;
}

/** Delivers `start` and runs the actor until it is stopped or its reducer throws. */
export function runActor(
  reducer: Reducer,
  driver: Driver,
  clock: Clock,
  options: RunOptions = {},
): RunningActor {
  let scheduled = false;
  let stopping: Promise<boolean> | undefined;
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => undefined);
  const schedule = () => {
    if (!scheduled) {
      scheduled = true;
      clock.soon(turn);
    }
  };
  const actor = new Actor({ reducer, driver, clock, wake: schedule });

  function turn(): void {
    scheduled = false;
    const begunMs = clock.monotonicMs();
    let beforeMs = begunMs;
    try {
      while (actor.depth > 0 && beforeMs - begunMs < TURN_MS) {
        const kind = actor.stepOnce();
        const afterMs = clock.monotonicMs();
        if (kind !== undefined && afterMs - beforeMs > STEP_LIMIT_MS) {
          options.onSlowStep?.(kind, afterMs - beforeMs);
        }
        beforeMs = afterMs;
      }
    } catch (error) {
      actor.close();
      driver.quiesce();
      ended.reject(error);
      return;
    }
    if (actor.depth > 0) {
      schedule();
    }
  }

  async function drain(deadlineMs: number): Promise<boolean> {
    driver.quiesce();
    actor.deliver({ kind: "stop" });
    const until = clock.monotonicMs() + deadlineMs;
    while ((actor.depth > 0 || actor.chains > 0) && clock.monotonicMs() < until) {
      await new Promise<void>((resolve) => clock.after(DRAIN_POLL_MS, resolve));
    }
    const rested = actor.depth === 0 && actor.chains === 0;
    actor.close();
    ended.resolve();
    return rested;
  }

  actor.deliver({ kind: "start" });
  return {
    get depth() {
      return actor.depth;
    },
    get dropped() {
      return actor.dropped;
    },
    ended: ended.promise,
    stop: (deadlineMs) => {
      stopping ??= drain(deadlineMs);
      return stopping;
    },
  };
}
