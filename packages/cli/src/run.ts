import { CommanderError } from "commander";
import { CliError, EXIT_CODES, ExitStatus } from "./errors.ts";
import { Out } from "./output/out.ts";
import { buildProgram } from "./program.ts";
import type { CommandContext } from "./session.ts";

/** Runs the command with its arguments and gives the exit code; nothing is thrown. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const json = argv.includes("--json");
  // With --json an error is a document on stdout, so commander's own lines are left out.
  const complaints = json ? { write: () => true } : context.stderr;
  try {
    await buildProgram(context, complaints).parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof ExitStatus) return error.exitCode;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      if (!json) return EXIT_CODES.usage;
    }
    const out = new Out({
      stdout: context.stdout,
      stderr: context.stderr,
      json,
      colour: !argv.includes("--no-color"),
      environment: context.environment,
    });
    const usage = error instanceof CommanderError;
    return out.failure(usage ? new CliError("usage", usageMessage(error)) : error);
  }
}

function usageMessage(error: CommanderError): string {
  return error.message.replace(/^error: /, "");
}
