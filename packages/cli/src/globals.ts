import { type Command, Option } from "commander";

/** Options that every command takes, before or after its name. */
export interface Globals {
  readonly natsUrl: string;
  readonly prefix: string;
  /** Undefined: the environment that the control plane says it serves. */
  readonly environment: string | undefined;
  readonly json: boolean;
  readonly colour: boolean;
  /** False: end with code 4 at once when NATS is not reachable. */
  readonly retry: boolean;
}

/** Where NATS is looked for when nothing says otherwise. */
export const DEFAULT_NATS_URL = "nats://127.0.0.1:4222";

/** Adds the options to the program; commander takes the RINGWALL_* variables where no flag is given. */
export function addGlobalOptions(program: Command): void {
  program
    .addOption(
      new Option("--nats-url <url>", "NATS server, several separated by commas")
        .env("RINGWALL_NATS_URL")
        .default(DEFAULT_NATS_URL),
    )
    .addOption(
      new Option("--prefix <prefix>", "prefix of the control plane's subjects and streams")
        .env("RINGWALL_PREFIX")
        .default("rw"),
    )
    .addOption(
      new Option(
        "--env <environment>",
        "environment of the control plane; another one is refused",
      ).env("RINGWALL_ENVIRONMENT"),
    )
    .option("--json", "write one JSON document, or one per line for streams")
    .option("--no-color", "write without colours, also with NO_COLOR=1")
    .option("--no-retry", "end with code 4 at once if NATS is not reachable");
}

/** Reads them from any command of the program. */
export function globalsOf(command: Command): Globals {
  const options = command.optsWithGlobals<{
    natsUrl: string;
    prefix: string;
    env?: string;
    json?: boolean;
    color: boolean;
    retry: boolean;
  }>();
  return {
    natsUrl: options.natsUrl,
    prefix: options.prefix,
    environment: options.env === "" ? undefined : options.env,
    json: options.json === true,
    colour: options.color,
    retry: options.retry,
  };
}
