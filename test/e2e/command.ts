import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Root of the checkout. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The command as it is run from a shell: its main file under this Node. */
export const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));

/** How a run of the command ended. */
export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The process environment without variables that would change what the command does. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("RINGWALL_") || name === "RINGWALL_NATS_SERVER",
  );
  return Object.fromEntries(kept);
}

/** Runs the command to its end. */
export function runCommand(args: readonly string[], stdin = ""): Promise<CommandOutcome> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: ROOT, env: cleanEnvironment() });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}
