import type { WouldDropReading } from "@ringwall/agent";
import { Protocol } from "@ringwall/wire";
import { Command } from "commander";
import { CliError } from "../../errors.ts";
import { enumName } from "../../output/enum-name.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";
import { addLocalOptions, type LocalOptions, localBackend, onHost, storedRecord } from "./local.ts";

/** `ringwall agent counters`. */
export function agentCountersCommand(context: CommandContext): Command {
  const command = new Command("counters")
    .summary("packets by rule since the policy was loaded, and what no rule allows")
    .description(
      "Packets by rule, and which flows no rule allows: dropped in enforced mode, let in otherwise. " +
        "A packet of a connection that is established is counted by no rule.",
    );
  return addLocalOptions(command).action((options: LocalOptions, invoked: Command) =>
    withSession(context, invoked, (session) => counters(session, options)),
  );
}

async function counters({ out }: Session, options: LocalOptions): Promise<void> {
  const { policy } = await storedRecord(options);
  const backend = localBackend(options);
  const reading = await onHost(() => backend.countersOf(policy));
  if (reading === undefined) {
    throw new CliError("refused", "the stored policy is not in force", {
      hint: "ringwall agent status says what is",
    });
  }
  const rules = [...reading.rulePackets].map(([rule, packets]) => ({ rule, packets }));
  const others = [...(await onHost(() => backend.chainPackets()))].map(([rule, packets]) => ({
    rule,
    packets,
  }));
  const document = { rules, others, notAllowed: reading.wouldDrops };
  const packets = {
    title: "PACKETS",
    cell: (row: { readonly packets: bigint }) => String(row.packets),
    align: "right" as const,
  };
  const rule = { title: "RULE", cell: (row: { readonly rule: string }) => row.rule };
  out.result(document, () => [
    ...out.table([rule, packets], [...rules, ...others]),
    "",
    ...(reading.wouldDrops.length === 0
      ? ["nothing came in that no rule allows"]
      : out.table(
          [
            { title: "NOT ALLOWED FROM", cell: ({ source }: WouldDropReading) => source },
            { title: "TO", cell: targetText },
            packets,
          ],
          reading.wouldDrops,
        )),
  ]);
}

function targetText({ protocol, port }: WouldDropReading): string {
  const name = enumName(Protocol, protocol);
  return port === 0 ? name : `${port}/${name}`;
}
