import type { Message } from "@ringwall/actor";
import type { Outbox } from "./outbox.ts";
import type { Resumed, Task, Wait } from "./task.ts";

/** How a task ended. */
export type Outcome<Result> =
  | { readonly ok: true; readonly value: Result }
  | { readonly ok: false; readonly error: unknown };

interface Running {
  readonly id: number;
  /** Goes on with the task; the next wait, or undefined when it has ended. */
  readonly resume: (resumed: Resumed | undefined) => Wait | undefined;
  /** Ends the task where it stands; its `finally` blocks run. */
  readonly end: () => void;
  wait: Wait | undefined;
  /** Counts waits, so that a late answer to an earlier one is not taken for this one's. */
  turn: number;
}

const TAG = /^task:(\d+):(\d+)$/;

/** Runs tasks: gives their effects tags and hands each answer to the task that waits for it. */
export class Tasks {
  readonly #outbox: Outbox;
  readonly #running = new Map<number, Running>();
  readonly #waiting = new Map<string, Set<Running>>();
  #last = 0;
  #signals = 0;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Number of tasks that have not ended. */
  get size(): number {
    return this.#running.size;
  }

  /** A name of a signal that nobody else has. */
  newSignal(): string {
    this.#signals += 1;
    return `own:${this.#signals}`;
  }

  /** Starts a task; `done` hears of its end, perhaps before this returns. Returns its id. */
  start<Result>(task: Task<Result>, done: (outcome: Outcome<Result>) => void): number {
    this.#last += 1;
    const resume = (resumed: Resumed | undefined): Wait | undefined => {
      let outcome: Outcome<Result>;
      try {
        const next = resumed === undefined ? task.next("signalled") : task.next(resumed);
        if (next.done !== true) {
          return next.value;
        }
        outcome = { ok: true, value: next.value };
      } catch (error) {
        outcome = { ok: false, error };
      }
      this.#running.delete(running.id);
      done(outcome);
      return undefined;
    };
    const end = () => {
      // What the generator would return is not used: nobody waits for a dropped task.
      Reflect.apply(task.return, task, []);
    };
    const running: Running = { id: this.#last, resume, end, wait: undefined, turn: 0 };
    this.#running.set(running.id, running);
    this.#go(running, undefined);
    return running.id;
  }

  /** Ends a task where it stands; unknown ids are fine. Must not be called by the task itself. */
  drop(id: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) {
      this.#outbox.add({ kind: "cancel-timer", id: tagOf(running) });
      this.#leave(running);
      this.#running.delete(id);
      running.end();
    }
  }

  /** Wakes every task that waits for the signal. */
  signal(name: string): void {
    for (const running of [...(this.#waiting.get(name) ?? [])]) {
      // One that was woken before it in this loop may have ended its wait.
      if (this.#waiting.get(name)?.has(running) === true) {
        this.#outbox.add({ kind: "cancel-timer", id: tagOf(running) });
        this.#go(running, "signalled");
      }
    }
  }

  /** Takes a message if it is the answer to a task's wait. */
  take(message: Message): boolean {
    const tag = "tag" in message ? message.tag : message.kind === "timer" ? message.id : "";
    const match = TAG.exec(tag);
    if (match === null) {
      return false;
    }
    const running = this.#running.get(Number(match[1]));
    if (running !== undefined && running.turn === Number(match[2])) {
      this.#go(running, message.kind === "timer" || !("tag" in message) ? "elapsed" : message);
    }
    return true;
  }

  #go(running: Running, resumed: Resumed | undefined): void {
    this.#leave(running);
    const wait = running.resume(resumed);
    if (wait === undefined || !this.#running.has(running.id)) {
      return;
    }
    running.wait = wait;
    running.turn += 1;
    const tag = tagOf(running);
    switch (wait.kind) {
      case "ask":
        this.#outbox.add(wait.effect(tag));
        break;
      case "slice":
        this.#outbox.add({ kind: "again", tag });
        break;
      case "pause":
        this.#outbox.add({ kind: "timer", id: tag, delayMs: wait.delayMs });
        break;
      case "signal": {
        this.#outbox.add({ kind: "timer", id: tag, delayMs: wait.timeoutMs });
        const waiting = this.#waiting.get(wait.name) ?? new Set();
        this.#waiting.set(wait.name, waiting.add(running));
        break;
      }
    }
  }

  #leave(running: Running): void {
    const { wait } = running;
    running.wait = undefined;
    if (wait?.kind === "signal") {
      const waiting = this.#waiting.get(wait.name);
      waiting?.delete(running);
      if (waiting?.size === 0) {
        this.#waiting.delete(wait.name);
      }
    }
  }
}

function tagOf(running: Running): string {
  return `task:${running.id}:${running.turn}`;
}
