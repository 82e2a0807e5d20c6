import type { Effect } from "./effect.ts";
import type { Message } from "./message.ts";

/** The moment of a step: time and chance are passed in, never read. */
export interface Moment {
  /** Wall clock, Unix milliseconds; may jump. */
  readonly wallMs: number;
  /** Monotonic clock, milliseconds from an arbitrary start; never goes back. */
  readonly monotonicMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * An actor's behaviour. `step` owns the state behind it and may change it in place, but does no
 * I/O and reads no clock, random or shared state. A step runs at most 10 ms; longer work returns an
 * `again` effect and goes on when that message arrives.
 */
export interface Reducer {
  step(message: Message, moment: Moment): readonly Effect[];
}
