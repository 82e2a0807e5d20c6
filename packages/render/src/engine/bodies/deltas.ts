import { compareText } from "@ringwall/rendered";
import { MODES } from "../../full/render-steps.ts";
import type { DecidedSplit, Decision } from "../routes/decisions.ts";
import { compareRules, type PlannedRule, plannedId } from "../rules/ruleset.ts";
import { ByteWriter, textFieldBytes } from "../store/byte-writer.ts";
import type { TextSets } from "../store/text-sets.ts";
import type { TextTable } from "../store/text-table.ts";
import { writePorts } from "./manifest.ts";
import type { PolicyClass } from "./policy-class.ts";
import { type BodySets, framed, routeBytes, ruleBytes, splitBytes } from "./sizes.ts";

/** Field numbers of policy.proto with their wire types. */
const CHANGE = 0x1a;
const STEP = {
  upsertRule: 0x0a,
  removeRule: 0x12,
  addPeers: 0x1a,
  removePeers: 0x22,
  setMode: 0x28,
  upsertRoute: 0x32,
  removeOutbound: 0x3a,
  addEndpoints: 0x42,
  removeEndpoints: 0x4a,
};
const RULE = { id: 0x0a, peer: 0x12, protocol: 0x18, port: 0x22 };
const ROUTE = { outbound: 0x0a, route: 0x12, split: 0x1a, addressV4: 0x22, addressV6: 0x2a };
const SPLIT = { key: 0x0a, weight: 0x10, endpoint: 0x1a };
const PEER_CHANGE = { rule: 0x0a, peer: 0x12 };
const ENDPOINT_CHANGE = { outbound: 0x0a, split: 0x12, endpoint: 0x1a };

interface Difference {
  readonly added: readonly number[];
  readonly removed: readonly number[];
}

/** Ids of sets stay below this, so that two of them make one safe integer. */
const PAIR_FACTOR = 2 ** 26;

/**
 * Encodes what leads from one body to another, as the changes of a PolicyDelta: byte for byte what
 * `delta` of packages/rendered gives without versions. Valid until the next flush begins; the
 * difference of two sets is computed once, however many bodies share them.
 */
export class Deltas {
  readonly #texts: TextTable;
  readonly #sets: BodySets;
  readonly #writer = new ByteWriter();
  readonly #peerDifferences = new Map<number, Difference>();
  readonly #endpointDifferences = new Map<number, Difference>();
  /** Changes of bodies that differ in nothing but the peers of one rule. */
  readonly #ofRule = new Map<PlannedRule, Uint8Array<ArrayBuffer>>();

  constructor(texts: TextTable, sets: BodySets) {
    this.#texts = texts;
    this.#sets = sets;
  }

  /** Forgets differences of the flush that ended. */
  settle(): void {
    this.#peerDifferences.clear();
    this.#endpointDifferences.clear();
    this.#ofRule.clear();
  }

  /** Changes from what a class was before the present flush to what another one is now. */
  encode(from: PolicyClass, to: PolicyClass): Uint8Array<ArrayBuffer> {
    const rule = this.#onlyChangedRule(from, to);
    if (rule === undefined) {
      return this.#encode(from, to);
    }
    let changes = this.#ofRule.get(rule);
    if (changes === undefined) {
      changes = this.#encode(from, to);
      this.#ofRule.set(rule, changes);
    }
    return changes;
  }

  /** The rule whose peers are all that differs; undefined if there is more, or nothing. */
  #onlyChangedRule(from: PolicyClass, to: PolicyClass): PlannedRule | undefined {
    if (from.list !== to.list || from.mode.mode !== to.mode.mode || from.routes !== to.routes) {
      return undefined;
    }
    const { peers, endpoints } = this.#sets;
    let only: PlannedRule | undefined;
    for (const rule of to.list.rules) {
      if (peers.changeOf(rule.source) !== undefined) {
        if (only !== undefined) {
          return undefined;
        }
        only = rule;
      }
    }
    for (const { shown, shownBefore, splits } of to.routes.decisions) {
      if (shown !== shownBefore) {
        return undefined;
      }
      for (const { bucket } of splits) {
        if (endpoints.changeOf(bucket.set) !== undefined) {
          return undefined;
        }
      }
    }
    return only;
  }

  #encode(from: PolicyClass, to: PolicyClass): Uint8Array<ArrayBuffer> {
    const writer = this.#writer;
    if (from.mode.mode !== to.mode.mode) {
      const begun = writer.begin(CHANGE);
      writer.number(STEP.setMode, MODES[to.mode.mode]);
      writer.end(begun);
    }
    walk(from.list.rules, to.list.rules, compareRules, (before, after) => {
      this.#changeRule(before, after);
    });
    walk(from.routes.decisions, to.routes.decisions, compareOutbounds, (before, after) => {
      this.#changeRoute(before, after);
    });
    return writer.takeBriefly();
  }

  #changeRule(before: PlannedRule | undefined, after: PlannedRule | undefined): void {
    if (after === undefined) {
      this.#removeKey(STEP.removeRule, before === undefined ? "" : plannedId(before));
    } else if (before === undefined || !sameRuleHead(before, after)) {
      this.#upsertRule(after);
    } else {
      const { added, removed } = this.#difference(
        this.#sets.peers,
        this.#peerDifferences,
        before.source,
        after.source,
      );
      this.#changePeers(STEP.addPeers, after, added);
      this.#changePeers(STEP.removePeers, after, removed);
    }
  }

  #changeRoute(before: Decision | undefined, after: Decision | undefined): void {
    if (after === undefined) {
      this.#removeKey(STEP.removeOutbound, before?.outbound ?? "");
    } else if (before === undefined || !sameRouteHead(before, after)) {
      this.#upsertRoute(after);
    } else {
      after.splits.forEach(({ key, bucket }, index) => {
        const { added, removed } = this.#difference(
          this.#sets.endpoints,
          this.#endpointDifferences,
          before.splits[index]?.bucket.set ?? 0,
          bucket.set,
        );
        this.#changeEndpoints(STEP.addEndpoints, after.outbound, key, added);
        this.#changeEndpoints(STEP.removeEndpoints, after.outbound, key, removed);
      });
    }
  }

  #difference(
    sets: TextSets,
    known: Map<number, Difference>,
    before: number,
    after: number,
  ): Difference {
    if (before === after) {
      return sets.changeOf(before) ?? NO_DIFFERENCE;
    }
    const pair = before * PAIR_FACTOR + after;
    let difference = known.get(pair);
    if (difference === undefined) {
      difference =
        sets.digest(before, "before") === sets.digest(after)
          ? NO_DIFFERENCE
          : sets.difference(sets.members(before, "before"), sets.members(after, "now"));
      known.set(pair, difference);
    }
    return difference;
  }

  #removeKey(tag: number, key: string): void {
    const begun = this.#writer.begin(CHANGE);
    this.#writer.text(tag, key);
    this.#writer.end(begun);
  }

  #upsertRule(rule: PlannedRule): void {
    const writer = this.#writer;
    const bytes = ruleBytes(rule, this.#sets);
    writer.number(CHANGE, framed(bytes));
    writer.number(STEP.upsertRule, bytes);
    writer.text(RULE.id, plannedId(rule));
    this.#writeTexts(RULE.peer, this.#sets.peers.members(rule.source, "now"));
    writer.number(RULE.protocol, rule.protocol);
    writePorts(RULE.port, rule.ports, writer);
  }

  #upsertRoute(decision: Decision): void {
    const writer = this.#writer;
    const { outbound, provenance, splits, shown } = decision;
    const bytes = routeBytes(decision, this.#sets);
    writer.number(CHANGE, framed(bytes));
    writer.number(STEP.upsertRoute, bytes);
    writeText(ROUTE.outbound, outbound, writer);
    writeText(ROUTE.route, provenance, writer);
    for (const split of splits) {
      writer.number(ROUTE.split, splitBytes(split, this.#sets));
      writeText(SPLIT.key, split.key, writer);
      writer.number(SPLIT.weight, split.weight);
      this.#writeTexts(SPLIT.endpoint, this.#sets.endpoints.members(split.bucket.set, "now"));
    }
    writeText(ROUTE.addressV4, shown.v4, writer);
    writeText(ROUTE.addressV6, shown.v6, writer);
  }

  #changePeers(tag: number, rule: PlannedRule, texts: readonly number[]): void {
    if (texts.length > 0) {
      const id = plannedId(rule);
      const bytes = textFieldBytes(id) + this.#bytesOf(texts);
      this.#writer.number(CHANGE, framed(bytes));
      this.#writer.number(tag, bytes);
      this.#writer.text(PEER_CHANGE.rule, id);
      this.#writeTexts(PEER_CHANGE.peer, texts);
    }
  }

  #changeEndpoints(tag: number, outbound: string, split: string, texts: readonly number[]): void {
    if (texts.length > 0) {
      const key = split === "" ? 0 : textFieldBytes(split);
      const bytes = textFieldBytes(outbound) + key + this.#bytesOf(texts);
      this.#writer.number(CHANGE, framed(bytes));
      this.#writer.number(tag, bytes);
      this.#writer.text(ENDPOINT_CHANGE.outbound, outbound);
      writeText(ENDPOINT_CHANGE.split, split, this.#writer);
      this.#writeTexts(ENDPOINT_CHANGE.endpoint, texts);
    }
  }

  #writeTexts(tag: number, texts: ArrayLike<number>): void {
    for (let index = 0; index < texts.length; index++) {
      this.#texts.writeField(texts[index] ?? 0, tag, this.#writer);
    }
  }

  #bytesOf(texts: readonly number[]): number {
    return texts.reduce((sum, text) => sum + this.#texts.fieldBytes(text), 0);
  }
}

const NO_DIFFERENCE: Difference = { added: [], removed: [] };

function compareOutbounds(a: Decision, b: Decision): number {
  return compareText(a.outbound, b.outbound);
}

function writeText(tag: number, text: string, writer: ByteWriter): void {
  if (text !== "") {
    writer.text(tag, text);
  }
}

function sameRuleHead(a: PlannedRule, b: PlannedRule): boolean {
  return (
    a === b ||
    (a.protocol === b.protocol &&
      a.ports.length === b.ports.length &&
      a.ports.every(
        ({ start, end }, index) => start === b.ports[index]?.start && end === b.ports[index]?.end,
      ))
  );
}

/** True if two routes differ in nothing but the endpoints of their splits. */
function sameRouteHead(before: Decision, after: Decision): boolean {
  return (
    before.provenance === after.provenance &&
    before.shownBefore.v4 === after.shown.v4 &&
    before.shownBefore.v6 === after.shown.v6 &&
    before.splits.length === after.splits.length &&
    before.splits.every((split, index) => sameSplitHead(split, after.splits[index]))
  );
}

function sameSplitHead(a: DecidedSplit, b: DecidedSplit | undefined): boolean {
  return a.key === b?.key && a.weight === b.weight;
}

/** Visits two lists that are in order. */
function walk<T>(
  from: readonly T[],
  to: readonly T[],
  compare: (a: T, b: T) => number,
  visit: (before: T | undefined, after: T | undefined) => void,
): void {
  let left = 0;
  let right = 0;
  while (left < from.length || right < to.length) {
    const before = from[left];
    const after = to[right];
    const order =
      before === undefined
        ? 1
        : after === undefined
          ? -1
          : before === after
            ? 0
            : compare(before, after);
    visit(order <= 0 ? before : undefined, order >= 0 ? after : undefined);
    left += order <= 0 ? 1 : 0;
    right += order >= 0 ? 1 : 0;
  }
}
