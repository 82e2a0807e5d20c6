import {
  type ConnectionExplanation,
  ExplainError,
  explainConnection,
  type RuleVerdict,
} from "@ringwall/render";
import { Protocol } from "@ringwall/wire";
import { Command } from "commander";
import { CliError } from "../errors.ts";
import { findWorkload, readEstate } from "../live/estate.ts";
import type { Out } from "../output/out.ts";
import { paintMode } from "../output/states.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { explainRouteCommand } from "./explain-route.ts";

/** Port and protocol of a connection. */
export interface ConnectionTarget {
  /** 0 for ICMP. */
  readonly port: number;
  readonly protocol: Protocol;
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  tcp: Protocol.TCP,
  udp: Protocol.UDP,
  icmp: Protocol.ICMP,
};

/** Reads `5432/tcp`, `53/udp` or `icmp`; throws CliError `usage`. */
export function readTarget(text: string): ConnectionTarget {
  const [, portText, name = ""] = /^(?:(\d{1,5})\/)?(tcp|udp|icmp)$/i.exec(text) ?? [];
  const protocol = PROTOCOLS[name.toLowerCase()];
  const port = Number(portText ?? 0);
  const portless = protocol === Protocol.ICMP;
  if (protocol === undefined || port > 65_535 || portless !== (portText === undefined)) {
    throw new CliError("usage", `"${text}" is no port and protocol`, {
      hint: "write 5432/tcp, 53/udp or icmp; ports go to 65535",
    });
  }
  return { port, protocol };
}

/** `ringwall explain`. */
export function explainCommand(context: CommandContext): Command {
  return new Command("explain")
    .summary("why a connection is allowed or denied, why a route won")
    .description(
      "Says whether a connection is allowed, by which rule, or which rule nearly allows it and what " +
        "is missing.",
    )
    .argument("<from>", "workload id or address that connects")
    .argument("<to>", "workload that is connected to")
    .argument("<target>", "for example 5432/tcp, 53/udp, icmp")
    .addCommand(explainRouteCommand(context))
    .action((from: string, to: string, target: string, _options: unknown, command: Command) =>
      withSession(context, command, (session) => explain(session, from, to, target)),
    );
}

async function explain(session: Session, from: string, to: string, text: string): Promise<void> {
  const { port, protocol } = readTarget(text);
  const estate = await readEstate(await session.operator());
  findWorkload(estate, to);
  if (!/[.:]/.test(from)) findWorkload(estate, from);
  const workloads = estate.workloads.map(({ workload }) => workload);
  let explanation: ConnectionExplanation;
  try {
    explanation = explainConnection(estate.configuration, workloads, from, to, port, protocol);
  } catch (error) {
    if (!(error instanceof ExplainError)) throw error;
    throw new CliError("usage", error.message);
  }
  const document = { from, to, target: text.toLowerCase(), ...explanation };
  session.out.result(document, () => humanExplanation(session.out, document));
}

function humanExplanation(
  out: Out,
  document: ConnectionExplanation & { readonly from: string; readonly to: string; target: string },
): string[] {
  const { paint } = out;
  const { allowed, by, mode, from, to, target, rules, nearest } = document;
  const verdict = allowed
    ? by === "rule"
      ? paint.green("ALLOWED")
      : paint.yellow("PASSES")
    : paint.red("DENIED");
  const lines = [
    `${verdict}  ${paint.bold(from)} → ${paint.bold(to)} ${target}  ` +
      paint.dim(`(${to} is in ${paintMode(mode, paint)} mode)`),
  ];
  if (by === "mode") {
    lines.push(`  no rule allows it: it passes only because ${mode} mode denies nothing`);
  }
  for (const rule of rules) lines.push(...allowingLines(out, rule));
  if (document.uncovered.length > 0) {
    lines.push(paint.yellow(`  not from ${document.uncovered.join(", ")}`));
  }
  if (document.addresses.length === 0) lines.push(`  ${from} has no address that could be a peer`);
  if (nearest !== undefined) {
    lines.push(`  nearest: ${paint.bold(`${nearest.ruleset}/${ruleName(nearest)}`)}, but`);
    lines.push(...nearest.misses.map(({ reason }) => `    ${paint.red("✗")} ${reason}`));
  }
  return lines;
}

function allowingLines({ paint }: Out, rule: RuleVerdict): string[] {
  return [
    `  ${paint.green("✓")} ${paint.bold(`${rule.ruleset}/${ruleName(rule)}`)}: ` +
      `${rule.peers.join(", ")} by ${rule.entries.join(", ")}`,
    `    ${paint.dim(`covers ${rule.covers.join(", ")}`)}`,
  ];
}

function ruleName(rule: RuleVerdict): string {
  return rule.name ?? `rules[${rule.position}]`;
}
