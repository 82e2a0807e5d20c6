import type { BodyDigest } from "@ringwall/wire";
import { ALLOW_CHAIN, BODY_CHAIN, CUT_SETS, DENIED_SETS, type Ruleset } from "./ruleset.ts";

/** The table as `nft -j list table` prints it. */
export interface LiveTable {
  /** Everything but members of sets, counts and handles, in one text. */
  readonly frame: string;
  /** Digest of the body that was installed; undefined if the table does not say. */
  readonly body: BodyDigest | undefined;
  /** `chain comment` of each rule in order. */
  readonly rules: readonly string[];
  /** Members of each set that the agent fills. */
  readonly members: ReadonlyMap<string, readonly unknown[]>;
  /** Packets per comment in the allow chain. */
  readonly packets: ReadonlyMap<string, bigint>;
  /** Packets per comment in the other chains, added up. */
  readonly otherPackets: ReadonlyMap<string, bigint>;
}

type Fields = Readonly<Record<string, unknown>>;

const FLOW_SETS: ReadonlySet<string> = new Set([
  ...Object.values(DENIED_SETS),
  ...Object.values(CUT_SETS),
]);

/** Reads nft's JSON. Throws SyntaxError on text that is none. */
export function readLiveTable(json: string): LiveTable {
  const document: unknown = JSON.parse(json);
  const list = isFields(document) && Array.isArray(document.nftables) ? document.nftables : [];
  const frame: string[] = [];
  const rules: string[] = [];
  const members = new Map<string, readonly unknown[]>();
  const packets = new Map<string, bigint>();
  const otherPackets = new Map<string, bigint>();
  let body: BodyDigest | undefined;
  for (const entry of list) {
    const [[kind, value] = ["", undefined]] = isFields(entry) ? Object.entries(entry) : [];
    if (!isFields(value) || kind === "metainfo") continue;
    const name = textOf(value.name);
    if (kind === "chain" && name.startsWith(BODY_CHAIN)) {
      // Whatever stands there is compared with a digest; it is not used as one before.
      body = name.slice(BODY_CHAIN.length) as BodyDigest;
      continue;
    }
    if (kind === "set" && !FLOW_SETS.has(name)) {
      members.set(name, Array.isArray(value.elem) ? value.elem : []);
    }
    if (kind === "rule") {
      const comment = textOf(value.comment);
      rules.push(`${textOf(value.chain)} ${comment}`);
      const counts = value.chain === ALLOW_CHAIN ? packets : otherPackets;
      counts.set(comment, (counts.get(comment) ?? 0n) + packetsOf(value.expr));
    }
    frame.push(JSON.stringify({ [kind]: value }, withoutMoving));
  }
  return { frame: frame.join("\n"), body, rules, members, packets, otherPackets };
}

/** `chain comment` of each rule as a ruleset says it. */
export function ruleNames(ruleset: Ruleset): readonly string[] {
  return ruleset.chains.flatMap(({ name, rules }) =>
    rules.map((rule) => `${name} ${/ comment "([^"]*)"$/.exec(rule)?.[1] ?? ""}`),
  );
}

/** Handles, counts and members change without anybody's doing. */
function withoutMoving(key: string, value: unknown): unknown {
  if (key === "handle" || key === "elem") return undefined;
  return key === "counter" && isFields(value) ? null : value;
}

function packetsOf(expressions: unknown): bigint {
  for (const expression of Array.isArray(expressions) ? expressions : []) {
    const counter = isFields(expression) ? expression.counter : undefined;
    if (isFields(counter) && typeof counter.packets === "number") return BigInt(counter.packets);
  }
  return 0n;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** True for an object that is no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
