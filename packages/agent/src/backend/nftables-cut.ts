import { spawn } from "node:child_process";
import { EnforcementMode, Protocol, type ResolvedRule, type WorkloadPolicy } from "@ringwall/wire";
import { AgentError } from "../errors.ts";
import { parseV4, parseV6, rangeOf } from "../nftables/address.ts";
import type { AlwaysAccept } from "../nftables/baseline.ts";
import { peerCover } from "../nftables/peer-cover.ts";
import { portCover } from "../nftables/port-cover.ts";
import { CUT_SETS, TABLE } from "../nftables/ruleset.ts";

/** An established flow towards this host, as the input chain sees it. */
export interface Flow {
  readonly family: "ip" | "ip6";
  readonly protocol: "tcp" | "udp";
  readonly source: string;
  readonly sourcePort: number;
  readonly port: number;
}

const FAMILY_FLAGS = { ip: "ipv4", ip6: "ipv6" } as const;
const TIMEOUT_MS = 30_000;

/**
 * Reads flows towards `local` addresses from what `conntrack -L` prints: the source as it came, the
 * port as it is here, after any translation.
 */
export function readFlows(text: string, local: ReadonlySet<string>): readonly Flow[] {
  const flows: Flow[] = [];
  for (const line of text.split("\n")) {
    const protocol = /^(tcp|udp)\s/.exec(line)?.[1];
    const [, source = "", sourcePort] = /src=(\S+) dst=\S+ sport=(\d+)/.exec(line) ?? [];
    const [, here = "", port] = /dport=\d+ .*?src=(\S+) dst=\S+ sport=(\d+)/.exec(line) ?? [];
    if (protocol !== "tcp" && protocol !== "udp") continue;
    if (!local.has(here) || local.has(source)) continue;
    const family = source.includes(":") ? "ip6" : "ip";
    flows.push({
      family,
      protocol,
      source,
      sourcePort: Number(sourcePort),
      port: Number(port),
    });
  }
  return flows;
}

/** The flows that an enforced policy would not let begin now. */
export function flowsToCut(
  policy: WorkloadPolicy,
  alwaysAccept: readonly AlwaysAccept[],
  flows: readonly Flow[],
): readonly Flow[] {
  if (policy.mode !== EnforcementMode.ENFORCED) return [];
  const rescue = new Set(alwaysAccept.map(({ protocol, port }) => `${protocol}/${port}`));
  const judges = policy.inboundRules.map(judgeOf);
  return flows.filter(
    (flow) =>
      !rescue.has(`${flow.protocol}/${flow.port}`) && !judges.some((allows) => allows(flow)),
  );
}

/** The script that drops whatever else comes in on these flows; undefined if there are none. */
export function cutScript(flows: readonly Flow[]): string | undefined {
  const lines = (["ip", "ip6"] as const).flatMap((family) => {
    const elements = flows
      .filter((flow) => flow.family === family)
      .map((flow) => `${flow.source} . ${flow.protocol} . ${flow.sourcePort} . ${flow.port}`);
    return elements.length === 0
      ? []
      : [`add element ${TABLE} ${CUT_SETS[family]} { ${elements.join(", ")} }`];
  });
  return lines.length === 0 ? undefined : `${lines.join("\n")}\n`;
}

/**
 * What the kernel tracks, as `conntrack -L` prints it. Rejects with `backend-unavailable` where
 * conntrack is missing or fails.
 */
export async function listFlows(command: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    Object.values(FAMILY_FLAGS).map((family) => runConntrack(command, ["-L", "-f", family])),
  );
  return texts.join("\n");
}

function runConntrack(command: readonly string[], args: readonly string[]): Promise<string> {
  const [binary = "conntrack", ...rest] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [...rest, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    let output = "";
    let words = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      words += part;
    });
    const fail = (why: string) => {
      clearTimeout(timer);
      const message = `established flows can't be listed (${why}): install conntrack, or leave out --cut-established`;
      reject(new AgentError("backend-unavailable", message));
    };
    child.once("error", (error) => fail(error.message));
    child.once("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(output);
      else fail(words.trim());
    });
  });
}

function judgeOf(rule: ResolvedRule): (flow: Flow) => boolean {
  const protocol = rule.protocol === Protocol.TCP ? "tcp" : "udp";
  if (rule.protocol !== Protocol.TCP && rule.protocol !== Protocol.UDP) return () => false;
  const ports = portCover(rule.ports, rule.ruleId);
  const cover = peerCover(rule.peerCidrs, rule.ruleId);
  const hosts = {
    ip: new Set(cover.hosts4.map(numberOf)),
    ip6: new Set(cover.hosts6.map(numberOf)),
  };
  const nets = { ip: cover.nets4.map(rangeOfNet), ip6: cover.nets6.map(rangeOfNet) };
  return (flow) => {
    const source = numberOf(flow.source);
    return (
      flow.protocol === protocol &&
      (ports.length === 0 ||
        ports.some(({ start, end }) => start <= flow.port && flow.port <= end)) &&
      (hosts[flow.family].has(source) ||
        nets[flow.family].some(({ first, last }) => first <= source && source <= last))
    );
  };
}

function rangeOfNet(text: string) {
  const [address = "", length] = text.split("/");
  return rangeOf(numberOf(address), Number(length), address.includes(":") ? 128 : 32);
}

function numberOf(address: string): bigint {
  return address.includes(":") ? (parseV6(address) ?? 0n) : BigInt(parseV4(address));
}
