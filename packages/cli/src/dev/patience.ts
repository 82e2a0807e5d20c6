import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../errors.ts";

const PATIENCE_MS = 20_000;
const RETRY_MS = 100;

/**
 * Repeats `work` while services that were just started do not answer yet, for 20 s. What is
 * repeated must be harmless to repeat.
 */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const passing = error instanceof CliError && error.code === "transport";
      if (!passing || performance.now() > until) throw error;
      await delay(RETRY_MS);
    }
  }
}
