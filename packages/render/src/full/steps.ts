/** Work in slices: yields between them and returns its result. */
export type Steps<Result> = Generator<void, Result>;

/** Items handled between two yields of a loop: some milliseconds. */
export const ITEMS_PER_STEP = 1_000;

/** Does all the work at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) {
      return step.value;
    }
  }
}

/** Maps a list in slices. */
export function* mapSteps<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
  itemsPerStep: number = ITEMS_PER_STEP,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(map(item, results.length));
    if (results.length % itemsPerStep === 0) {
      yield;
    }
  }
  return results;
}
