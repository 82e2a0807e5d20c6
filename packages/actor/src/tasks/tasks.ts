import type { Message } from "../message.ts";
import type { Outbox } from "./outbox.ts";
import type { Resumed, Task, Wait } from "./task.ts";

/** How a task ended. */
export type TaskOutcome<Result> =
  | { readonly ok: true; readonly value: Result }
  | { readonly ok: false; readonly error: unknown };

interface Running {
  readonly id: number;
  /** Goes on with the task; the next wait, or undefined when it has ended. */
  readonly resume: (resumed: Resumed) => Wait | undefined;
  /** Ends the task where it stands; its `finally` blocks run. */
  readonly end: () => void;
  wait: Wait | undefined;
  /** Counts waits, so that a late answer to an earlier one is not taken for this one's. */
  turn: number;
}

/**
 * Runs tasks: tags their effects and hands each answer to the task that waits for it. Tags begin with
 * `name`, so that several sets of tasks in one reducer don't take each other's answers.
 */
export class Tasks {
  readonly #outbox: Outbox;
  /** How the tags of this set begin. */
  readonly #head: string;
  readonly #running = new Map<number, Running>();
  readonly #waiting = new Map<string, Set<Running>>();
  #last = 0;
  #signals = 0;

  constructor(outbox: Outbox, name: string) {
    this.#outbox = outbox;
    this.#head = `${name}/`;
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

  /**
   * Starts a task and returns its id. `done` hears of its end, perhaps before this returns; without
   * it, what the task throws is thrown by the step.
   */
  start<Result>(task: Task<Result>, done?: (outcome: TaskOutcome<Result>) => void): number {
    this.#last += 1;
    const resume = (resumed: Resumed): Wait | undefined => {
      let outcome: TaskOutcome<Result>;
      try {
        const next = task.next(resumed);
        if (next.done !== true) {
          return next.value;
        }
        outcome = { ok: true, value: next.value };
      } catch (error) {
        if (done === undefined) {
          throw error;
        }
        outcome = { ok: false, error };
      }
      this.#running.delete(running.id);
      done?.(outcome);
      return undefined;
    };
    const end = () => {
      // What the generator would return is not used: nobody waits for a dropped task.
      Reflect.apply(task.return, task, []);
    };
    const running: Running = { id: this.#last, resume, end, wait: undefined, turn: 0 };
    this.#running.set(running.id, running);
    // A generator's first resumption carries nothing.
    this.#go(running, "signalled");
    return running.id;
  }

  /**
   * Ends a task where it stands, its `finally` blocks included; unknown ids are fine. Must not be
   * called by the task itself.
   */
  drop(id: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) {
      if (running.wait?.kind === "pause" || running.wait?.kind === "signal") {
        this.#outbox.add({ kind: "cancel-timer", id: this.#tagOf(running) });
      }
      this.#leave(running);
      this.#running.delete(id);
      running.end();
    }
  }

  /** Forgets every task; none of them runs on, not even its `finally` blocks. */
  dropAll(): void {
    this.#running.clear();
    this.#waiting.clear();
  }

  /** Wakes every task that waits for the signal now. */
  signal(name: string): void {
    for (const running of [...(this.#waiting.get(name) ?? [])]) {
      // One that was woken before it in this loop may have ended its wait.
      if (this.#waiting.get(name)?.has(running) === true) {
        this.#outbox.add({ kind: "cancel-timer", id: this.#tagOf(running) });
        this.#go(running, "signalled");
      }
    }
  }

  /** Takes a message if it belongs to a task; true even if that task does not wait for it any more. */
  take(message: Message): boolean {
    const tag = "tag" in message ? message.tag : message.kind === "timer" ? message.id : "";
    if (!tag.startsWith(this.#head)) {
      return false;
    }
    const [id, turn] = tag.slice(this.#head.length).split("/");
    const running = this.#running.get(Number(id));
    if (running === undefined || running.turn !== Number(turn)) {
      return true;
    }
    if (!("tag" in message)) {
      this.#go(running, "elapsed");
    } else if (
      // Parts of a chain answer too; only its end or a failure counts.
      running.wait?.kind !== "chain" ||
      message.kind === "again" ||
      message.kind === "failed"
    ) {
      this.#go(running, message);
    }
    return true;
  }

  #go(running: Running, resumed: Resumed): void {
    this.#leave(running);
    const wait = running.resume(resumed);
    // What a task does may end its whole set.
    if (wait !== undefined && this.#running.has(running.id)) {
      this.#wait(running, wait);
    }
  }

  #wait(running: Running, wait: Wait): void {
    running.wait = wait;
    running.turn += 1;
    const tag = this.#tagOf(running);
    switch (wait.kind) {
      case "ask":
        this.#outbox.add(wait.effect(tag));
        break;
      case "chain":
        this.#outbox.chain([...wait.effects(tag), { kind: "again", tag }]);
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

  #tagOf({ id, turn }: Running): string {
    return `${this.#head}${id}/${turn}`;
  }
}
