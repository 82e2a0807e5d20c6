import {
  type AddressSet,
  BODY_CHAIN,
  type Chain,
  CUT_SETS,
  type Ruleset,
  TABLE,
} from "./ruleset.ts";

/**
 * The script that replaces the table whole. It is one transaction: packets see the former ruleset or
 * this one, never a part.
 */
export function fullScript(ruleset: Ruleset): string {
  return script(ruleset, Number.POSITIVE_INFINITY);
}

/**
 * The same script with at most `elements` of each set. What nft has to say about a policy lies in its
 * frame, and elements are written from parsed addresses only; so a check need not cost as much as the
 * load, which is all or nothing anyway.
 */
export function sampleScript(ruleset: Ruleset, elements: number): string {
  return script(ruleset, elements);
}

/** The script that takes the table away, also where there is none. */
export function removeScript(): string {
  return `table ${TABLE}\ndelete table ${TABLE}\n`;
}

function script(ruleset: Ruleset, limit: number): string {
  return [
    removeScript().trimEnd(),
    `table ${TABLE} {`,
    ...ruleset.addressSets.map((set) => `  ${declaration(set, limit)}`),
    ...ruleset.flowSets.map((set) => `  ${set}`),
    ...ruleset.chains.flatMap(chainLines),
    "}",
    "",
  ].join("\n");
}

function declaration({ name, type, interval, elements }: AddressSet, limit: number): string {
  const flags = interval ? " flags interval;" : "";
  const shown = elements.length > limit ? elements.slice(0, limit) : elements;
  const list = shown.length === 0 ? "" : ` elements = { ${shown.join(", ")} };`;
  return `set ${name} { type ${type};${flags}${list} }`;
}

function chainLines({ name, hook, rules }: Chain): string[] {
  return [
    `  chain ${name} {`,
    ...(hook === "" ? [] : [`    ${hook}`]),
    ...rules.map((rule) => `    ${rule}`),
    "  }",
  ];
}

/** What of a ruleset is not the members of its address sets nor its body's digest. */
export function frameText(ruleset: Ruleset): string {
  const chains = ruleset.chains.filter(({ name }) => !name.startsWith(BODY_CHAIN));
  const sets = ruleset.addressSets.map(({ name, type, interval }) => `${name} ${type} ${interval}`);
  return [...sets, ...ruleset.flowSets, ...chains.flatMap(chainLines)].join("\n");
}

/**
 * The script that leads from one ruleset to another where only members of address sets differ, in
 * one transaction, deletions before additions so that a prefix can take another's place; undefined
 * where the frame differs or where so much changes that a whole load is cheaper. Flows that were cut
 * off are judged anew.
 */
export function deltaScript(from: Ruleset, to: Ruleset): string | undefined {
  if (frameText(from) !== frameText(to)) return undefined;
  const deletions: string[] = [];
  const additions: string[] = [];
  let changed = 0;
  let total = 0;
  for (const [index, after] of to.addressSets.entries()) {
    const before = from.addressSets[index];
    total += after.elements.length;
    if (before === undefined || before.elements === after.elements) continue;
    const { removed, added } = difference(before.elements, after.elements);
    changed += removed.length + added.length;
    if (removed.length > 0) deletions.push(element("delete", after.name, removed));
    if (added.length > 0) additions.push(element("add", after.name, added));
  }
  if (changed > total / 2 + 16) return undefined;
  const body =
    from.body === to.body
      ? []
      : [
          `delete chain ${TABLE} ${BODY_CHAIN}${from.body}`,
          `add chain ${TABLE} ${BODY_CHAIN}${to.body}`,
        ];
  const cuts = Object.values(CUT_SETS).map((name) => `flush set ${TABLE} ${name}`);
  return [...deletions, ...additions, ...cuts, ...body, ""].join("\n");
}

function element(verb: "add" | "delete", set: string, elements: readonly string[]): string {
  return `${verb} element ${TABLE} ${set} { ${elements.join(", ")} }`;
}

function difference(
  before: readonly string[],
  after: readonly string[],
): { readonly removed: readonly string[]; readonly added: readonly string[] } {
  const limit = Math.min(before.length, after.length);
  let head = 0;
  while (head < limit && before[head] === after[head]) head += 1;
  let tail = 0;
  let last = before.length - 1;
  const shift = after.length - before.length;
  while (tail < limit - head && before[last] === after[last + shift]) {
    tail += 1;
    last -= 1;
  }
  const old = new Set(before.slice(head, before.length - tail));
  const fresh = new Set(after.slice(head, after.length - tail));
  return {
    removed: [...old].filter((text) => !fresh.has(text)),
    added: [...fresh].filter((text) => !old.has(text)),
  };
}
