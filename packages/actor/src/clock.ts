/** Time and chance as an actor gets them: real ones from the bus, virtual ones in simulation. */
export interface Clock {
  /** Wall clock, Unix milliseconds; may jump. */
  wallMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Calls back once after `delayMs`; the result takes it back. */
  after(delayMs: number, call: () => void): () => void;
  /** Calls back once when whatever else is due has had its turn. */
  soon(call: () => void): void;
}
