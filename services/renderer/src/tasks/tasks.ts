import type { Message } from "@ringwall/actor";
import type { Outbox } from "./outbox.ts";
import type { Resumed, Task, Wait } from "./task.ts";

interface Running {
  readonly id: number;
  readonly task: Task<void>;
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
  readonly #name: string;
  readonly #running = new Map<number, Running>();
  readonly #waiting = new Map<string, Set<Running>>();
  #last = 0;

  constructor(outbox: Outbox, name: string) {
    this.#outbox = outbox;
    this.#name = name;
  }

  /** Starts a task and returns its id. What the task throws is thrown by the step. */
  start(task: Task<void>): number {
    this.#last += 1;
    const running: Running = { id: this.#last, task, wait: undefined, turn: 0 };
    this.#running.set(running.id, running);
    this.#go(running, "signalled");
    return running.id;
  }

  /** Ends a task where it stands, its `finally` blocks included; unknown ids are fine. */
  drop(id: number): void {
    const running = this.#running.get(id);
    if (running !== undefined) {
      this.#leave(running);
      this.#running.delete(id);
      running.task.return();
    }
  }

  /** Forgets every task. */
  dropAll(): void {
    this.#running.clear();
    this.#waiting.clear();
  }

  /** Wakes every task that waits for the signal now. */
  signal(name: string): void {
    for (const running of [...(this.#waiting.get(name) ?? [])]) {
      // One that was woken before it in this loop may have dropped it.
      if (this.#waiting.get(name)?.has(running) === true) {
        this.#outbox.add({ kind: "cancel-timer", id: this.#tagOf(running) });
        this.#go(running, "signalled");
      }
    }
  }

  /** Takes a message if it belongs to a task; true even if that task does not wait for it any more. */
  take(message: Message): boolean {
    const tag = "tag" in message ? message.tag : message.kind === "timer" ? message.id : "";
    const [name, id, turn] = tag.split("/");
    if (name !== this.#name) {
      return false;
    }
    const running = this.#running.get(Number(id));
    if (running === undefined || running.turn !== Number(turn)) {
      return true;
    }
    if ("tag" in message) {
      // Parts of a chain answer too; only its end or a failure counts.
      const partial = running.wait?.kind === "chain" && message.kind !== "again";
      if (!partial || message.kind === "failed") {
        this.#go(running, message);
      }
    } else if (message.kind === "timer") {
      this.#go(running, "elapsed");
    }
    return true;
  }

  #go(running: Running, resumed: Resumed): void {
    this.#leave(running);
    const next = running.task.next(resumed);
    if (next.done === true) {
      this.#running.delete(running.id);
      return;
    }
    // A task may be dropped by what it did itself.
    if (this.#running.has(running.id)) {
      this.#wait(running, next.value);
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
      case "signal": {
        this.#outbox.add({ kind: "timer", id: tag, delayMs: wait.timeoutMs });
        if (wait.name !== "") {
          const waiting = this.#waiting.get(wait.name) ?? new Set();
          this.#waiting.set(wait.name, waiting.add(running));
        }
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
    return `${this.#name}/${id}/${turn}`;
  }
}
