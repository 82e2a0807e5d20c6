import { BusError } from "./errors.ts";
import { type OwnOption, optionsHelp, serviceOptions } from "./options.ts";
import { type ServiceDefinition, startService } from "./service.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** A service as its own process. */
export interface ServiceMain extends Omit<ServiceDefinition, "options" | "signal"> {
  /** The service's own options beside the common ones. */
  readonly own?: readonly OwnOption[];
}

/**
 * Runs a service as this process: reads flags and environment, starts it, and ends it cleanly on
 * SIGTERM or SIGINT. Exit codes: 0 stopped, 1 could not start or failed, 2 wrong options.
 */
export async function runService(main: ServiceMain): Promise<void> {
  const own = main.own ?? [];
  if (process.argv.includes("--help")) {
    process.stdout.write(optionsHelp(main.service, own));
    return;
  }
  const stop = new AbortController();
  try {
    const options = serviceOptions(process.argv.slice(2), process.env, own);
    const onSignal = () => stop.abort();
    process.once("SIGTERM", onSignal);
    process.once("SIGINT", onSignal);
    const service = await startService({ ...main, options, signal: stop.signal });
    const stopped = () => void service.stop();
    stop.signal.addEventListener("abort", stopped);
    if (stop.signal.aborted) {
      stopped();
    }
    await service.ended.catch(async (error: unknown) => {
      service.telemetry.log.error({ error: describe(error) }, `${main.service} failed`);
      await service.stop();
      process.exitCode = EXIT_FAILED;
    });
  } catch (error) {
    if (error instanceof BusError && error.code === "closed" && stop.signal.aborted) {
      return;
    }
    process.stderr.write(`${main.service}: ${describe(error)}\n`);
    process.exitCode =
      error instanceof BusError && error.code === "invalid-option" ? EXIT_USAGE : EXIT_FAILED;
  }
}

function describe(error: unknown): string {
  if (error instanceof BusError) {
    return error.message;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
