/** How likely each fault is, from 0 (never) to 1 (always), and how late things may be. */
export interface Faults {
  /** A core message, request or answer is not delivered. */
  readonly lose: number;
  /** A core message is delivered twice. */
  readonly duplicate: number;
  /** A core message overtakes earlier ones of its sender. */
  readonly reorder: number;
  /** A core message or a record comes later than usual. */
  readonly delay: number;
  /** Longest such delay. */
  readonly delayMs: number;
  /** A request is told that nobody listens although somebody does. */
  readonly noResponders: number;
  /** An append does not reach the stream at its first attempt. */
  readonly loseAppend: number;
  /** An append is stored, but its acknowledgement is lost at the first attempt. */
  readonly loseAck: number;
  /** A read of a subject's last message answers the one before it. */
  readonly staleRead: number;
  /** An actor that may crash does so after a step. */
  readonly crash: number;
  /** It comes back after at most this long. */
  readonly restartMs: number;
}

/** Nothing goes wrong. */
export const NO_FAULTS: Faults = {
  lose: 0,
  duplicate: 0,
  reorder: 0,
  delay: 0,
  delayMs: 0,
  noResponders: 0,
  loseAppend: 0,
  loseAck: 0,
  staleRead: 0,
  crash: 0,
  restartMs: 0,
};
