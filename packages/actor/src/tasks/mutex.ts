import { signalled, type Task } from "./task.ts";
import type { Tasks } from "./tasks.ts";

/** How long a waiting task sleeps before it looks again by itself. */
const LOOK_MS = 60_000;

/** Lets one task at a time do something. A task that may be dropped must not hold it. */
export class Mutex {
  readonly #tasks: Tasks;
  readonly #signal: string;
  #held = false;

  /** `name` tells mutexes of one set of tasks apart. */
  constructor(tasks: Tasks, name: string) {
    this.#tasks = tasks;
    this.#signal = `mutex:${name}`;
  }

  /** Runs `body` while no other task holds the mutex. */
  *hold<Result>(body: () => Task<Result>): Task<Result> {
    while (this.#held) {
      yield* signalled(this.#signal, LOOK_MS);
    }
    this.#held = true;
    try {
      return yield* body();
    } finally {
      this.#held = false;
      this.#tasks.signal(this.#signal);
    }
  }
}
