import { AgentError } from "@ringwall/agent";
import { BusError, optionsHelp, serviceOptions } from "@ringwall/bus";
import { AGENT_OPTIONS } from "./options.ts";
import { AgentProcess } from "./run-agent.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const USAGE_CODES: ReadonlySet<string> = new Set([
  "invalid-option",
  "option-invalid",
  "estate-invalid",
  "annotations-invalid",
]);

if (process.argv.includes("--help")) {
  process.stdout.write(optionsHelp("agent", AGENT_OPTIONS));
} else {
  await main();
}

async function main(): Promise<void> {
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener("abort", () => resolve());
  });
  process.once("SIGTERM", () => stop.abort());
  process.once("SIGINT", () => stop.abort());
  try {
    const options = serviceOptions(process.argv.slice(2), process.env, AGENT_OPTIONS);
    const agents = await AgentProcess.start(options, stop.signal);
    await stopped;
    await agents.stop();
  } catch (error) {
    if (error instanceof BusError && error.code === "closed" && stop.signal.aborted) {
      return;
    }
    const known = error instanceof AgentError || error instanceof BusError;
    const text = error instanceof Error ? (known ? error.message : error.stack) : String(error);
    process.stderr.write(`agent: ${text}\n`);
    process.exitCode = known && USAGE_CODES.has(error.code) ? EXIT_USAGE : EXIT_FAILED;
  }
}
