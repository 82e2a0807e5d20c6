import { applyTopology, diffTopology, type TopologyChange } from "@ringwall/bus/client";
import { Command, Option } from "commander";
import { CliError } from "../errors.ts";
import { connectOperator } from "../live/bus-operator.ts";
import type { Out } from "../output/out.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { readCount } from "./options.ts";

interface TopologyOptions {
  readonly replicas: number;
}

/** `ringwall topology diff|apply`. */
export function topologyCommand(context: CommandContext): Command {
  const topology = new Command("topology").description("Streams and buckets of the control plane.");
  const replicas = () =>
    new Option("--replicas <count>", "copies of every stream; 3 in production")
      .default(1)
      .argParser(readCount);
  topology
    .command("diff")
    .summary("show how streams and buckets differ from what is wanted")
    .addOption(replicas())
    .action((options: TopologyOptions, command: Command) =>
      withSession(context, command, (session) => run(session, options, false)),
    );
  topology
    .command("apply")
    .summary("create and change them")
    .addOption(replicas())
    .action((options: TopologyOptions, command: Command) =>
      withSession(context, command, (session) => run(session, options, true)),
    );
  return topology;
}

async function run(session: Session, options: TopologyOptions, apply: boolean): Promise<void> {
  if (![1, 3, 5].includes(options.replicas)) {
    throw new CliError("usage", `${options.replicas} replicas are not possible; write 1, 3 or 5`);
  }
  await using operator = await connectOperator(session.globals, session.out, session.interrupted);
  const changes = apply
    ? await applyTopology(operator.bus, options)
    : await diffTopology(operator.bus, options);
  session.out.result({ applied: apply, changes }, () => {
    if (changes.length === 0) return ["streams and buckets are as wanted"];
    return changes.map((change) => changeText(session.out, change, apply));
  });
  if (apply && changes.some((change) => change.kind === "update" && !change.possible)) {
    throw new CliError("refused", "some settings can't be changed on streams that exist", {
      hint: "back the stream up, delete it and restore it under the new settings",
    });
  }
}

function changeText({ paint }: Out, change: TopologyChange, applied: boolean): string {
  if (change.kind === "create") {
    return `${paint.green("+")} ${change.stream} ${applied ? "created" : "is missing"}`;
  }
  const values = `${JSON.stringify(change.is)} → ${JSON.stringify(change.wanted)}`;
  return change.possible
    ? `${paint.yellow("~")} ${change.stream} ${change.setting}: ${values}`
    : `${paint.red("!")} ${change.stream} ${change.setting}: ${values}, can't be changed`;
}
