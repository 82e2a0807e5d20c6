import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError, Option } from "commander";
import { runDev } from "../dev/run-dev.ts";
import { CliError, messageOf, systemCode } from "../errors.ts";
import { type EstateWorkload, readEstateFile } from "../estate/read-estate.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { readSeconds } from "./options.ts";

interface DevCommandOptions {
  readonly port: number;
  readonly stateDir: string;
  readonly example?: string;
  readonly fresh?: boolean;
  readonly exitWhenSynced?: boolean;
  readonly timeout: number;
}

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const DEFAULT_ENVIRONMENT = "prod";

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new InvalidArgumentError("Write a port from 1 to 65535.");
  }
  return port;
}

/** `ringwall dev`. */
export function devCommand(context: CommandContext): Command {
  return new Command("dev")
    .summary("run a control plane with the example estate")
    .description(
      "Runs nats-server, the four services and one agent for each workload of the example on this " +
        "machine.\nNothing is installed into the kernel: agents write the rules that they would " +
        "load. The state stays for the next start.",
    )
    .addOption(
      new Option("--port <port>", "port of nats-server on 127.0.0.1")
        .default(4222)
        .env("RINGWALL_DEV_PORT")
        .argParser(readPort),
    )
    .addOption(
      new Option("--state-dir <dir>", "where streams, policies and logs are kept")
        .default(".ringwall/dev")
        .env("RINGWALL_DEV_STATE_DIR"),
    )
    .option("--example <dir>", "estate.yaml and declared repo (default: examples/shop)")
    .option("--fresh", "begin with an empty state")
    .option("--exit-when-synced", "stop everything once every workload is SYNCED")
    .addOption(
      new Option("--timeout <seconds>", "with --exit-when-synced: code 7 after that time")
        .default(120)
        .argParser(readSeconds),
    )
    .action((options: DevCommandOptions, command: Command) =>
      withSession(context, command, (session) => dev(session, options)),
    );
}

async function dev(session: Session, options: DevCommandOptions): Promise<void> {
  const example = options.example ?? join(ROOT, "examples", "shop");
  await runDev(session, {
    root: ROOT,
    example,
    workloads: await readEstate(join(example, "estate.yaml")),
    stateDirectory: options.stateDir,
    fresh: options.fresh === true,
    port: options.port,
    environment: session.globals.environment ?? DEFAULT_ENVIRONMENT,
    exitWhenSynced: options.exitWhenSynced === true,
    timeoutSeconds: options.timeout,
  });
}

async function readEstate(file: string): Promise<EstateWorkload[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const reason = systemCode(error) === "ENOENT" ? "is not there" : messageOf(error);
    throw new CliError("usage", `${file} ${reason}`, {
      hint: "name a directory with an estate.yaml and a declared repo in --example",
    });
  }
  return readEstateFile(text, file);
}
