import type { Clock } from "@ringwall/actor";

/** The machine's clock and chance. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: Math.random,
  after: (delayMs, call) => {
    const timer = setTimeout(call, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (call) => {
    setImmediate(call);
  },
};
