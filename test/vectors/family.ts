/** A function that vectors call, with how its result is compared. */
export interface VectorFunction {
  readonly run: (input: unknown) => unknown;
  /** True if the actual JSON value is what was wanted; absent: deeply equal. */
  readonly same?: (wanted: unknown, actual: unknown) => boolean;
}

/** The functions of one family, by their name behind the dot. */
export type Family = Readonly<Record<string, VectorFunction>>;

/**
 * Binds a function to vectors. `Input` is the shape that FORMAT.md gives for the function's `in`;
 * the return value must be JSON, with keys left out where a value is unset. An error that it throws
 * is compared by its `code`, and by its `findings` where the vector has some.
 */
export function bind<Input>(
  run: (input: Input) => unknown,
  same?: VectorFunction["same"],
): VectorFunction {
  // The vectors' shape is fixed by FORMAT.md; a vector of another shape fails with what it throws.
  const bound = (input: unknown) => run(input as Input);
  return same === undefined ? { run: bound } : { run: bound, same };
}
