import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { CliError, messageOf } from "../../errors.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";

/** The agent's program: beside the bundled command, or in the checkout. */
const PROGRAMS = ["./agent.mjs", "../../../../../services/agent/src/main.ts"];

/** `ringwall agent run`. */
export function agentRunCommand(context: CommandContext): Command {
  return new Command("run")
    .summary("run the agent until it is stopped; rules stay in force afterwards")
    .description(
      "Runs the agent of this host. The stored policy is in force before anything is dialled.\n" +
        "Options are the agent's own: --workload, --backend nftables|file, --state-dir, " +
        "--always-accept, …; `ringwall agent run -- --help` lists them.",
    )
    .argument("[options...]", "options of the agent")
    .allowUnknownOption()
    .action((options: string[], _flags: unknown, command: Command) =>
      withSession(context, command, (session) => run(session, options)),
    );
}

async function run(session: Session, options: readonly string[]): Promise<void> {
  const { globals, context } = session;
  const program = findProgram();
  const child = spawn(
    process.execPath,
    [
      program,
      ...["--nats-url", globals.natsUrl, "--prefix", globals.prefix],
      ...(globals.environment === undefined ? [] : ["--env", globals.environment]),
      ...options,
    ],
    // Its own group: it is told to stop once, by this process.
    { stdio: "inherit", env: context.environment, detached: true },
  );
  const stop = () => child.kill("SIGTERM");
  session.interrupted.addEventListener("abort", stop);
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", (error) => reject(new CliError("refused", messageOf(error))));
    child.once("exit", (number, signal) => resolve(number ?? signal ?? "no code"));
  });
  session.interrupted.removeEventListener("abort", stop);
  if (code === 0) return;
  throw new CliError(code === 2 ? "usage" : "refused", `the agent ended with ${code}`);
}

function findProgram(): string {
  const found = PROGRAMS.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(
    existsSync,
  );
  if (found !== undefined) return found;
  throw new CliError("refused", "the agent's program is not beside this command", {
    hint: "run it from a checkout or from the image",
  });
}
