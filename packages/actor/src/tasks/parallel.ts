import { signalled, type Task } from "./task.ts";
import type { Tasks } from "./tasks.ts";

/** How long a waiting task sleeps before it looks again by itself. */
const LOOK_MS = 60_000;

/**
 * Runs several tasks, at most `limit` at a time, and returns their results in order. Throws the first
 * error, after those that run have ended; no further ones are started then.
 */
export function* parallel<Item, Result>(
  tasks: Tasks,
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Task<Result>,
): Task<Result[]> {
  const signal = tasks.newSignal();
  const results: Result[] = [];
  const errors: unknown[] = [];
  let next = 0;
  let running = 0;
  const startSome = () => {
    while (running < limit && next < items.length && errors.length === 0) {
      const index = next;
      const item = items[index];
      next += 1;
      if (item === undefined) {
        continue;
      }
      running += 1;
      tasks.start(work(item), (outcome) => {
        running -= 1;
        if (outcome.ok) {
          results[index] = outcome.value;
        } else {
          errors.push(outcome.error);
        }
        tasks.signal(signal);
      });
    }
  };
  startSome();
  while (running > 0) {
    yield* signalled(signal, LOOK_MS);
    startSome();
  }
  if (errors.length > 0) {
    throw errors[0];
  }
  return results;
}
