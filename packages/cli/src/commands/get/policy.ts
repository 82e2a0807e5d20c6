import { toJson } from "@bufbuild/protobuf";
import { WorkloadPolicySchema } from "@ringwall/wire";
import { Command, Option } from "commander";
import { hex, shortHex } from "../../live/hex.ts";
import { readPolicy } from "../../live/policy.ts";
import { ruleNames } from "../../live/rule-names.ts";
import { modeName } from "../../live/status.ts";
import { readConfiguration } from "../../live/tree.ts";
import { routeTable, ruleTable } from "../../output/policy.ts";
import { paintMode } from "../../output/states.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";
import { readCount } from "../options.ts";

interface PolicyOptions {
  readonly version: number;
}

/** `ringwall get policy`. */
export function getPolicyCommand(context: CommandContext): Command {
  return new Command("policy")
    .summary("the rendered policy of a workload")
    .description("Shows the policy that a workload's agent is given: rules with addresses, routes.")
    .argument("<id>", "workload id")
    .addOption(
      new Option("--version <number>", "a version that is still kept; 0 is the head")
        .default(0)
        .argParser(readCount),
    )
    .action((id: string, options: PolicyOptions, command: Command) =>
      withSession(context, command, (session) => getPolicy(session, id, options)),
    );
}

async function getPolicy(session: Session, id: string, options: PolicyOptions): Promise<void> {
  const { out } = session;
  const operator = await session.operator();
  const { policy, answer } = await readPolicy(operator, id, BigInt(options.version));
  const document = {
    workload: id,
    epoch: answer.epoch,
    digest: hex(answer.digest),
    configSequence: answer.inputs?.configSequence ?? 0n,
    registryRevision: answer.inputs?.registryRevision ?? 0n,
    policy: toJson(WorkloadPolicySchema, policy),
  };
  const names = out.json
    ? new Map<string, string>()
    : ruleNames((await readConfiguration(operator)).configuration);
  out.result(document, () => {
    const { paint } = out;
    const lines = [
      `${paint.bold(id)} version ${policy.version}, ${paintMode(modeName(policy.mode), paint)}, ` +
        `body ${shortHex(answer.digest)}, commit ${document.configSequence}, ` +
        `registry ${document.registryRevision}`,
      "",
    ];
    if (policy.inboundRules.length === 0) lines.push("no rule lets anybody in");
    else {
      lines.push(
        ...ruleTable(out, policy.inboundRules, ({ ruleId }) => {
          const authored = ruleId.slice(0, ruleId.lastIndexOf("/"));
          return names.get(authored) ?? ruleId;
        }),
      );
    }
    if (policy.outboundRoutes.length > 0) lines.push("", ...routeTable(out, policy.outboundRoutes));
    return lines;
  });
}
