import { Command } from "commander";
import { acceptStateCommand } from "./commands/accept-state.ts";
import { agentCommand } from "./commands/agent.ts";
import { applyCommand } from "./commands/apply.ts";
import { completionCommand } from "./commands/completion.ts";
import { demoCommand } from "./commands/demo.ts";
import { devCommand } from "./commands/dev.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { explainCommand } from "./commands/explain.ts";
import { getCommand } from "./commands/get.ts";
import { historyCommand } from "./commands/history.ts";
import { importCommand } from "./commands/import.ts";
import { labelCommand } from "./commands/label.ts";
import { leasesCommand } from "./commands/leases.ts";
import { lintCommand } from "./commands/lint.ts";
import { modeCommand } from "./commands/mode.ts";
import { planCommand } from "./commands/plan.ts";
import { pullCommand } from "./commands/pull.ts";
import { renderCommand } from "./commands/render.ts";
import { rollbackCommand } from "./commands/rollback.ts";
import { showCommand } from "./commands/show.ts";
import { statusCommand } from "./commands/status.ts";
import { topologyCommand } from "./commands/topology.ts";
import { traceCommand } from "./commands/trace.ts";
import { verifyCommand } from "./commands/verify.ts";
import { versionCommand } from "./commands/version.ts";
import { watchCommand } from "./commands/watch.ts";
import { workloadCommand } from "./commands/workload.ts";
import { addGlobalOptions } from "./globals.ts";
import type { TextSink } from "./output/out.ts";
import type { CommandContext } from "./session.ts";

type Make = (context: CommandContext) => Command;

const GROUPS: readonly (readonly [string, readonly Make[]])[] = [
  ["Try it:", [devCommand, demoCommand]],
  [
    "Look:",
    [
      getCommand,
      statusCommand,
      historyCommand,
      traceCommand,
      showCommand,
      watchCommand,
      explainCommand,
    ],
  ],
  ["Change:", [applyCommand, labelCommand, modeCommand, rollbackCommand]],
  ["Declare:", [renderCommand, planCommand, pullCommand, verifyCommand]],
  [
    "Operate:",
    [
      agentCommand,
      workloadCommand,
      importCommand,
      leasesCommand,
      topologyCommand,
      doctorCommand,
      acceptStateCommand,
    ],
  ],
  ["Other:", [lintCommand, completionCommand, versionCommand]],
];

const EXIT_CODES_HELP = `
Exit codes: 0 done, 2 usage, 3 configuration invalid, 4 not reachable, 5 not authorised,
6 refused by the present state, 7 not converged in time.`;

/** The whole command: one subcommand per file of commands/; usage errors go to `complaints`. */
export function buildProgram(context: CommandContext, complaints: TextSink): Command {
  const program = new Command("ringwall")
    .description("Declares who may talk to whom, and shows what became of it on every host.")
    .addHelpText("after", EXIT_CODES_HELP);
  addGlobalOptions(program);
  for (const [heading, makers] of GROUPS) {
    for (const make of makers) program.addCommand(make(context).helpGroup(heading));
  }
  program.helpCommand("help [command]", "show help for a command");
  prepare(program, context, complaints);
  return program;
}

function prepare(command: Command, context: CommandContext, complaints: TextSink): void {
  command
    .exitOverride()
    .showHelpAfterError("(add --help for what is possible)")
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => complaints.write(text),
    })
    .configureHelp({ showGlobalOptions: command.commands.length === 0 });
  for (const each of command.commands) prepare(each, context, complaints);
}
