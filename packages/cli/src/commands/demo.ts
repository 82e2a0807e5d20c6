import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, Option } from "commander";
import { runDemo } from "../demo/run-demo.ts";
import { CliError, messageOf } from "../errors.ts";
import { readEstateFile } from "../estate/read-estate.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { readSeconds } from "./options.ts";

interface DemoCommandOptions {
  readonly kernel?: boolean;
  readonly example?: string;
  readonly once?: boolean;
  readonly timeout: number;
}

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const DEFAULT_ENVIRONMENT = "prod";

/** `ringwall demo`. */
export function demoCommand(context: CommandContext): Command {
  return new Command("demo")
    .summary("try the example with real agents, kernels and packets")
    .description(
      "Builds a network namespace for each workload of the example, with a server and an agent that " +
        "enforces in its kernel, and shows which connections pass beside what is declared.\nNeeds root " +
        "on Linux. The machine's own network and rules are not touched, and nothing is left behind.",
    )
    .option("--kernel", "yes, build network namespaces on this machine")
    .option("--example <dir>", "estate.yaml and declared repo (default: examples/shop)")
    .option("--once", "end after the first whole look; code 6 if it is not as declared")
    .addOption(
      new Option("--timeout <seconds>", "code 7 if agents are not SYNCED after that time")
        .default(180)
        .argParser(readSeconds),
    )
    .action((options: DemoCommandOptions, command: Command) =>
      withSession(context, command, (session) => demo(session, options)),
    );
}

async function demo(session: Session, options: DemoCommandOptions): Promise<void> {
  if (options.kernel !== true) {
    throw new CliError("usage", "say --kernel: network namespaces are built on this machine", {
      hint: "`ringwall dev` shows the example without touching a kernel",
    });
  }
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    throw new CliError("denied", "network namespaces need root on Linux", {
      hint: "`ringwall dev` shows the example without them",
    });
  }
  const example = options.example ?? join(ROOT, "examples", "shop");
  const file = join(example, "estate.yaml");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError("usage", `${file} can't be read: ${messageOf(error)}`);
  });
  await runDemo(session, {
    root: ROOT,
    example,
    workloads: readEstateFile(text, file),
    port: await freePort(),
    environment: session.globals.environment ?? DEFAULT_ENVIRONMENT,
    once: options.once === true,
    timeoutSeconds: options.timeout,
  });
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
