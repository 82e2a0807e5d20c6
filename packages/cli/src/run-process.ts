import { connectOperator } from "./live/bus-operator.ts";
import { run } from "./run.ts";

const FORCED_EXIT_CODE = 130;
const REPEATED_SIGNAL_MS = 1_000;

/** Runs the command as this process: arguments, signals, exit code. */
export async function runProcess(): Promise<void> {
  const interruption = new AbortController();
  let interruptedAt = Number.POSITIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // The second one does not wait for anybody; a runner that passes Ctrl-C on is no second one.
      if (performance.now() - interruptedAt > REPEATED_SIGNAL_MS) process.exit(FORCED_EXIT_CODE);
      interruptedAt = Math.min(interruptedAt, performance.now());
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
