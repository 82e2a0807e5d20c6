import { fileURLToPath } from "node:url";

/** Root of the checkout. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The command's main file. */
export const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

/** How a run of the command ended. */
export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
