import type { PolicyRecord } from "@ringwall/agent";
import { EnforcementMode } from "@ringwall/wire";
import { Command } from "commander";
import { enumName } from "../../output/enum-name.ts";
import type { Out } from "../../output/out.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";
import { addLocalOptions, type LocalOptions, localBackend, onHost, storedState } from "./local.ts";

/** `ringwall agent status`. */
export function agentStatusCommand(context: CommandContext): Command {
  const command = new Command("status").summary("which policy is stored and which is in force");
  return addLocalOptions(command).action((options: LocalOptions, invoked: Command) =>
    withSession(context, invoked, (session) => status(session, options)),
  );
}

async function status({ out }: Session, options: LocalOptions): Promise<void> {
  const { record, refused, faults } = await storedState(options);
  const backend = localBackend(options);
  const body = await onHost(() => backend.current());
  const document = {
    workload: options.workload,
    stored: record === undefined ? null : describe(record),
    inForce: body ?? "",
    agrees: body === record?.digest,
    refused,
    faults,
  };
  out.result(document, () => human(out, document, record));
}

function describe({ epoch, digest, policy }: PolicyRecord) {
  return {
    epoch,
    version: policy.version,
    digest,
    mode: enumName(EnforcementMode, policy.mode),
    rules: policy.inboundRules.length,
    peers: policy.inboundRules.reduce((sum, { peerCidrs }) => sum + peerCidrs.length, 0),
    routes: policy.outboundRoutes.length,
  };
}

function human(
  { paint }: Out,
  document: {
    readonly inForce: string;
    readonly agrees: boolean;
    readonly refused: readonly string[];
    readonly faults: readonly string[];
  },
  record: PolicyRecord | undefined,
): string[] {
  const { inForce, agrees, refused, faults } = document;
  const stored = record === undefined ? undefined : describe(record);
  return [
    stored === undefined
      ? "stored    nothing"
      : `stored    version ${stored.version}, ${stored.mode}: ${stored.rules} rules, ${stored.peers} peers, ${stored.routes} routes`,
    inForce === ""
      ? `in force  ${paint.yellow("nothing")}`
      : `in force  ${agrees ? paint.green("the stored policy") : paint.red(`another body, ${inForce}`)}`,
    ...refused.map((digest) => `refused   ${digest}`),
    ...faults.map((fault) => `${paint.red("fault")}     ${fault}`),
  ];
}
