import { Command } from "commander";
import type { CommandContext } from "../session.ts";
import { agentCountersCommand } from "./agent/counters.ts";
import { agentDownCommand } from "./agent/down.ts";
import { agentRoutesCommand } from "./agent/routes.ts";
import { agentRunCommand } from "./agent/run.ts";
import { agentStatusCommand } from "./agent/status.ts";

/** `ringwall agent`. */
export function agentCommand(context: CommandContext): Command {
  return new Command("agent")
    .summary("run the agent of this host, or look at what it enforces")
    .description(
      "The agent of this host.\nAll but `run` need no control plane: they read the stored policy and " +
        "the kernel's ruleset.",
    )
    .addCommand(agentRunCommand(context))
    .addCommand(agentStatusCommand(context))
    .addCommand(agentCountersCommand(context))
    .addCommand(agentRoutesCommand(context))
    .addCommand(agentDownCommand(context));
}
