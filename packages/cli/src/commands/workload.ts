import { partitionOf } from "@ringwall/bus/client";
import { isWorkloadId } from "@ringwall/render";
import {
  AdmitWorkloadRequestSchema,
  AdmitWorkloadResponseSchema,
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
} from "@ringwall/wire";
import { Command } from "commander";
import { CliError } from "../errors.ts";
import { accepted } from "../live/operator.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { readLabelChanges } from "./label.ts";

interface AdmitOptions {
  readonly namespace?: string;
}

/** `ringwall workload admit|deregister`. */
export function workloadCommand(context: CommandContext): Command {
  const workload = new Command("workload").description("Creates and removes workloads by hand.");
  workload
    .command("admit")
    .summary("create a workload for an agent that is unknown")
    .description(
      "Creates a workload by an operator's word. An agent that is UNKNOWN keeps its last policy " +
        "until this is done.",
    )
    .argument("<id>", "workload id")
    .argument("[labels...]", "source labels, key=value")
    .option("--namespace <name>", "namespace whose services it may serve")
    .action((id: string, labels: string[], options: AdmitOptions, command: Command) =>
      withSession(context, command, (session) => admit(session, id, labels, options)),
    );
  workload
    .command("deregister")
    .summary("remove a workload and its endpoints")
    .description(
      "Removes a workload: it is nobody's peer any more. Its agent keeps its last policy, its " +
        "version counter is kept for ever.",
    )
    .argument("<id>", "workload id")
    .action((id: string, _options: unknown, command: Command) =>
      withSession(context, command, (session) => deregister(session, id)),
    );
  return workload;
}

function checkId(id: string): void {
  if (!isWorkloadId(id)) {
    throw new CliError("usage", `"${id}" is no workload id: 1 to 64 of [a-z0-9_-]`);
  }
}

async function admit(
  session: Session,
  id: string,
  texts: readonly string[],
  options: AdmitOptions,
): Promise<void> {
  checkId(id);
  const { set, remove } = readLabelChanges(texts);
  if (remove.length > 0) {
    throw new CliError("usage", "a workload that is admitted has no labels to take back");
  }
  const operator = await session.operator();
  const { revision } = accepted(
    "workload.admit",
    await operator.call(
      "workload.admit",
      AdmitWorkloadRequestSchema,
      AdmitWorkloadResponseSchema,
      { id, labels: set, namespace: options.namespace ?? "" },
      { partition: partitionOf(id) },
    ),
  );
  session.out.result({ workload: id, labels: set, revision }, () => [
    `admitted ${id}: registry revision ${revision}`,
  ]);
}

async function deregister(session: Session, id: string): Promise<void> {
  checkId(id);
  const operator = await session.operator();
  const { revision } = accepted(
    "workload.deregister",
    await operator.call(
      "workload.deregister",
      DeregisterWorkloadRequestSchema,
      DeregisterWorkloadResponseSchema,
      { id },
      { partition: partitionOf(id) },
    ),
  );
  session.out.result({ workload: id, removed: revision > 0n, revision }, () => [
    revision > 0n ? `removed ${id}: registry revision ${revision}` : `${id} was not there`,
  ]);
}
