import { CommanderError } from "commander";
import { EXIT_CODES } from "./errors.ts";
import { Out } from "./output/out.ts";
import { buildProgram } from "./program.ts";
import type { CommandContext } from "./session.ts";

const INTERNAL_ERROR = 1;

/** Runs the command with its arguments and gives the exit code; nothing is thrown. */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  try {
    await buildProgram(context).parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? 0 : EXIT_CODES.usage;
    }
    const out = new Out({
      stdout: context.stdout,
      stderr: context.stderr,
      json: argv.includes("--json"),
      colour: !argv.includes("--no-color"),
      environment: context.environment,
    });
    return out.failure(error) || INTERNAL_ERROR;
  }
}
