import { Command } from "commander";
import type { CommandContext } from "../session.ts";
import { getConfigurationCommands } from "./get/configuration.ts";
import { getEndpointsCommand } from "./get/endpoints.ts";
import { getPolicyCommand } from "./get/policy.ts";
import { getRowsCommand } from "./get/rows.ts";
import { getServiceCommand } from "./get/service.ts";
import { getWorkloadsCommand } from "./get/workloads.ts";

/** `ringwall get`: what is there, on the live side and in the configuration. */
export function getCommand(context: CommandContext): Command {
  const get = new Command("get").description("Shows what is there.");
  get.addCommand(getWorkloadsCommand(context));
  get.addCommand(getEndpointsCommand(context));
  get.addCommand(getServiceCommand(context));
  get.addCommand(getRowsCommand(context));
  for (const command of getConfigurationCommands(context)) get.addCommand(command);
  get.addCommand(getPolicyCommand(context));
  return get;
}
