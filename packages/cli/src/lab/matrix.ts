import { type Configuration, explainConnection, type WorkloadSpec } from "@ringwall/render";
import { Protocol } from "@ringwall/wire";
import type { Peer } from "./peer.ts";
import type { AttemptResult } from "./peer-messages.ts";

/** What is connected to at a workload. */
export interface Target {
  readonly protocol: "tcp" | "udp" | "icmp";
  /** 0 for icmp. */
  readonly port: number;
}

/** One connection between two workloads over one family. */
export interface Cell extends Target {
  readonly from: string;
  readonly to: string;
  readonly source: string;
  readonly address: string;
}

const PROTOCOLS = { tcp: Protocol.TCP, udp: Protocol.UDP, icmp: Protocol.ICMP } as const;
/** Callers that try at the same time. */
const CALLERS_AT_ONCE = 6;
const MOST_ROUNDS = 6;

/** Every pair of different workloads, family that both have, and target of the called one. */
export function cellsOf(
  workloads: readonly WorkloadSpec[],
  targetsOf: (workload: WorkloadSpec) => readonly Target[],
): readonly Cell[] {
  return workloads.flatMap((from) =>
    workloads
      .filter((to) => to.id !== from.id)
      .flatMap((to) =>
        from.addresses.flatMap((source) => {
          const address = to.addresses.find((each) => isV6(each) === isV6(source));
          if (address === undefined) return [];
          return targetsOf(to).map((target) => ({
            from: from.id,
            to: to.id,
            source,
            address,
            ...target,
          }));
        }),
      ),
  );
}

/** True if the connection passes by what is declared, rule by rule. */
export function isDeclared(
  configuration: Configuration,
  workloads: readonly WorkloadSpec[],
  { source, to, port, protocol }: Cell,
): boolean {
  const target = PROTOCOLS[protocol];
  return explainConnection(configuration, workloads, source, to, port, target).allowed;
}

/**
 * Tries every connection. Silent ones are tried again, for longer, until a round opens none of them: a
 * busy machine is not taken for a rule.
 */
export async function observe(
  peers: ReadonlyMap<string, Peer>,
  cells: readonly Cell[],
  timeoutMs = 800,
): Promise<ReadonlyMap<Cell, AttemptResult["outcome"]>> {
  const outcomes = new Map<Cell, AttemptResult["outcome"]>();
  const callers = [...new Set(cells.map(({ from }) => from))];
  const lane = async () => {
    for (let caller = callers.shift(); caller !== undefined; caller = callers.shift()) {
      const peer = peers.get(caller);
      let left = cells.filter(({ from }) => from === caller);
      let opened = left.length;
      for (let round = 0; round < 2 || (opened > 0 && round < MOST_ROUNDS); round += 1) {
        const results = (await peer?.tryAll(left, timeoutMs * (round + 1))) ?? [];
        for (const [index, cell] of left.entries()) {
          outcomes.set(cell, results[index]?.outcome ?? "silent");
        }
        const silent = left.filter((cell) => outcomes.get(cell) === "silent");
        opened = left.length - silent.length;
        left = silent;
      }
    }
  };
  await Promise.all(Array.from({ length: CALLERS_AT_ONCE }, lane));
  return outcomes;
}

/** The matrix as text: for each pair and family what passes, one line each. */
export function matrixText(cells: readonly Cell[], passes: (cell: Cell) => boolean): string {
  const lines = new Map<string, { readonly open: string[]; count: number }>();
  for (const cell of cells) {
    const pair = `${cell.from} → ${cell.to} ${isV6(cell.source) ? "IPv6" : "IPv4"}`;
    const line = lines.get(pair) ?? { open: [], count: 0 };
    lines.set(pair, line);
    line.count += 1;
    if (passes(cell)) line.open.push(targetText(cell));
  }
  return [...lines]
    .map(([pair, { open, count }]) => {
      const what = open.length === count ? "everything" : open.join(" ") || "nothing";
      return `${pair}: ${what}\n`;
    })
    .join("");
}

/** Such as `tcp/22` or `icmp`. */
export function targetText({ protocol, port }: Target): string {
  return protocol === "icmp" ? protocol : `${protocol}/${port}`;
}

function isV6(address: string): boolean {
  return address.includes(":");
}
