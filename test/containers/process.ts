import { spawn } from "node:child_process";

/** How a process ended. */
export interface Outcome {
  /** -1 when it was ended by a signal or could not be started. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a process is run. */
export interface RunOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  /** Longest time; default 60000. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end; one that can't be started ends with code -1. */
export function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(program, args, {
    env: { ...process.env, ...options.environment },
    timeout: options.timeoutMs ?? 60_000,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // A program that ends before it has read its input closes the pipe.
  child.stdin.on("error", () => undefined).end(options.stdin ?? "");
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: -1, stdout, stderr: error.message }));
    child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}
