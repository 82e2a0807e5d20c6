import { type AddressRange, parseV4, parseV6, rangeOf } from "./address.ts";
import { isFields, type LiveTable, ruleNames } from "./live-table.ts";
import type { AddressSet, Ruleset } from "./ruleset.ts";

const SHOWN = 3;

/**
 * What differs between the table that should be in force and the live one, one sentence each. `frame`
 * is how nft printed the chains right after they were loaded: nft prints differently from what it was
 * told, and each of its releases in its own way. Members are compared by the addresses they stand for.
 */
export function differences(
  expected: Ruleset,
  frame: string | undefined,
  live: LiveTable | undefined,
): readonly string[] {
  if (live === undefined) return ["the table is missing"];
  const found: string[] = [];
  if (live.frame !== frame || !sameRules(expected, live)) found.push("chains or rules differ");
  if (live.body !== expected.body) found.push("another policy is in force");
  for (const set of expected.addressSets) {
    const words = memberDifference(set, live.members.get(set.name) ?? []);
    if (words !== undefined) found.push(`set ${set.name} differs: ${words}`);
  }
  return found;
}

/** True if the live table has the rules that were loaded, by chain and comment. */
export function sameRules(expected: Ruleset, live: LiveTable): boolean {
  // nft lists rules chain by chain in the order of the chains' declaration or of their names.
  const wanted = [...ruleNames(expected)];
  return byChain(wanted) === byChain(live.rules);
}

function byChain(rules: readonly string[]): string {
  const chains = new Map<string, string[]>();
  for (const rule of rules) {
    const [chain = ""] = rule.split(" ", 1);
    const list = chains.get(chain);
    if (list === undefined) chains.set(chain, [rule]);
    else list.push(rule);
  }
  return [...chains.keys()]
    .sort()
    .flatMap((chain) => chains.get(chain) ?? [])
    .join("\n");
}

function memberDifference(set: AddressSet, members: readonly unknown[]): string | undefined {
  if (!set.interval && members.every((member) => typeof member === "string")) {
    const wanted = new Set(set.elements);
    const plain = members.length === wanted.size && members.every((member) => wanted.has(member));
    if (plain) return undefined;
  }
  const bits = set.type === "ipv4_addr" ? 32 : 128;
  const wanted = merged(set.elements.map((text) => rangeOfText(text, bits)));
  const there = merged(members.map((member) => rangeOfMember(member, bits)));
  if (wanted === there) return undefined;
  const texts = new Set(members.map((member) => JSON.stringify(member)));
  const missing = set.elements.filter((text) => !texts.has(JSON.stringify(text)));
  const hint = missing.slice(0, SHOWN).join(", ");
  return `${members.length} members instead of ${set.elements.length}${set.interval || hint === "" ? "" : `, missing ${hint}`}`;
}

/** Adjacent and overlapping ranges joined, as one text. */
function merged(ranges: readonly (AddressRange | undefined)[]): string {
  const sorted = ranges
    .filter((range) => range !== undefined)
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const joined: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of sorted) {
    const before = joined.at(-1);
    if (before !== undefined && first <= before.last + 1n) {
      if (last > before.last) before.last = last;
    } else {
      joined.push({ first, last });
    }
  }
  const unread = ranges.length - sorted.length;
  return `${unread} ${joined.map(({ first, last }) => `${first}-${last}`).join(" ")}`;
}

function rangeOfMember(member: unknown, bits: number): AddressRange | undefined {
  if (typeof member === "string") return rangeOfText(member, bits);
  if (!isFields(member)) return undefined;
  if (isFields(member.elem)) return rangeOfMember(member.elem.val, bits);
  if (isFields(member.prefix)) {
    const { addr, len } = member.prefix;
    return typeof addr === "string" && typeof len === "number"
      ? rangeOfText(`${addr}/${len}`, bits)
      : undefined;
  }
  if (Array.isArray(member.range)) {
    const [first, last] = member.range.map((text) =>
      typeof text === "string" ? numberOf(text, bits) : undefined,
    );
    return first === undefined || last === undefined ? undefined : { first, last };
  }
  return undefined;
}

function rangeOfText(text: string, bits: number): AddressRange | undefined {
  const [address = "", length] = text.split("/");
  const number = numberOf(address, bits);
  return number === undefined
    ? undefined
    : rangeOf(number, length === undefined ? bits : Number(length), bits);
}

function numberOf(text: string, bits: number): bigint | undefined {
  if (bits === 128) return parseV6(text);
  const number = parseV4(text);
  return number < 0 ? undefined : BigInt(number);
}
