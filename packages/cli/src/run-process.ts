import { connectOperator } from "./live/bus-operator.ts";
import { run } from "./run.ts";

const FORCED_EXIT_CODE = 130;

/** Runs the command as this process: arguments, signals, exit code. */
export async function runProcess(): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // The second one does not wait for anybody.
      if (interruption.signal.aborted) process.exit(FORCED_EXIT_CODE);
      interruption.abort();
    });
  }
  // `ringwall get workloads | head` closes the pipe early; that is no fault.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  process.exitCode = await run(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    interrupted: interruption.signal,
    connect: connectOperator,
  });
}
