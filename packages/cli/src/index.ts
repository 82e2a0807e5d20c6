export { CliError, type CliErrorCode, EXIT_CODES } from "./errors.ts";
export { run } from "./run.ts";
export type { CommandContext } from "./session.ts";
