import { compareBytes } from "@ringwall/labels";
import { type Canonical, normalizeCidr, peerSet } from "@ringwall/rendered";
import { LIMITS } from "../limits.ts";
import type { WorkloadSpec } from "../model.ts";
import type { Estate } from "./estate.ts";
import type { LabelSet } from "./label-sets.ts";
import type { Selector } from "./selector-index.ts";
import { ITEMS_PER_STEP, mapSteps, type Steps } from "./steps.ts";

/** Who may connect by one rule, before addresses: equal ones are one object. */
export interface PeerSource {
  readonly selectors: readonly Selector[];
  /** Normalised prefixes in byte order. */
  readonly cidrs: readonly string[];
}

/** Peers of a rule: the set, or how many there are if they exceed the limit of one rule. */
export type ResolvedPeers = { readonly cidrs: Canonical<string[]> } | { readonly tooMany: number };

/** Interns peer sources by content. */
export class PeerSources {
  readonly #byText = new Map<string, PeerSource>();

  intern(selectors: readonly Selector[], cidrs: readonly string[]): PeerSource {
    const distinct = [...new Set(selectors)].sort((a, b) => a.index - b.index);
    const prefixes = [...new Set(cidrs.map(normalizeCidr))].sort(compareBytes);
    const text = `${distinct.map(({ index }) => index).join(" ")}\0${prefixes.join("\0")}`;
    let source = this.#byText.get(text);
    if (source === undefined) {
      source = { selectors: distinct, cidrs: prefixes };
      this.#byText.set(text, source);
    }
    return source;
  }

  get all(): Iterable<PeerSource> {
    return this.#byText.values();
  }
}

/**
 * Resolves peer sources to addresses. Every text of the estate is ranked once in byte order, so a
 * peer set is collected and sorted as numbers, and equal sets become one array.
 */
export class PeerSets {
  readonly #estate: Estate;
  readonly #setsOf: (selector: Selector) => readonly LabelSet[];
  readonly #texts: readonly string[];
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #ranksOf = new Map<WorkloadSpec, readonly number[]>();
  /** Round in which a rank was last collected, so that no set is needed per peer set. */
  readonly #seen: Uint32Array;
  #round = 0;
  readonly #byShape = new Map<string, Canonical<string[]>[]>();

  private constructor(
    estate: Estate,
    setsOf: (selector: Selector) => readonly LabelSet[],
    texts: readonly string[],
    ranks: ReadonlyMap<string, number>,
  ) {
    this.#estate = estate;
    this.#setsOf = setsOf;
    this.#texts = texts;
    this.#ranks = ranks;
    this.#seen = new Uint32Array(texts.length);
  }

  /** Ranks every text of an estate. */
  static *steps(
    estate: Estate,
    sources: PeerSources,
    setsOf: (selector: Selector) => readonly LabelSet[],
  ): Steps<PeerSets> {
    const texts = new Set<string>();
    for (const { cidrs } of sources.all) {
      for (const cidr of cidrs) {
        texts.add(cidr);
      }
    }
    yield;
    // An expired workload is nobody's peer any more.
    const peers = estate.members.filter(({ workload }) => workload.presence !== "expired");
    const routes = yield* mapSteps(peers, ({ workload }) => {
      const own = workload.addresses.map(normalizeCidr);
      for (const route of own) {
        texts.add(route);
      }
      return own;
    });
    const sorted = inByteOrder([...texts]);
    yield;
    const ranks = new Map<string, number>();
    yield* mapSteps(sorted, (text, rank) => ranks.set(text, rank), 10 * ITEMS_PER_STEP);
    const sets = new PeerSets(estate, setsOf, sorted, ranks);
    yield* mapSteps(peers, ({ workload }, at) => {
      sets.#ranksOf.set(workload, sets.#ranksFor(routes[at] ?? []));
    });
    return sets;
  }

  resolve(source: PeerSource): ResolvedPeers {
    this.#round += 1;
    const ranks: number[] = [];
    this.#collect(this.#ranksFor(source.cidrs), ranks);
    for (const selector of source.selectors) {
      for (const set of this.#setsOf(selector)) {
        for (const { workload } of this.#estate.holders[set.index] ?? []) {
          this.#collect(this.#ranksOf.get(workload) ?? [], ranks);
        }
      }
    }
    if (ranks.length > LIMITS.peersPerRule) {
      return { tooMany: ranks.length };
    }
    const texts = Array.from(Uint32Array.from(ranks).sort(), (rank) => this.#texts[rank] ?? "");
    return { cidrs: this.#intern(texts) };
  }

  #ranksFor(texts: readonly string[]): number[] {
    return texts.flatMap((text) => this.#ranks.get(text) ?? []);
  }

  #collect(ranks: readonly number[], into: number[]): void {
    for (const rank of ranks) {
      if (this.#seen[rank] !== this.#round) {
        this.#seen[rank] = this.#round;
        into.push(rank);
      }
    }
  }

  #intern(texts: readonly string[]): Canonical<string[]> {
    const shape = `${texts.length} ${texts[0]} ${texts.at(-1)}`;
    const candidates = this.#byShape.get(shape) ?? [];
    const known = candidates.find((set) => set.every((text, index) => text === texts[index]));
    if (known !== undefined) {
      return known;
    }
    const set = peerSet(texts);
    this.#byShape.set(shape, [...candidates, set]);
    return set;
  }
}

/** Sorts in place; the engine's own order is byte order wherever there are no surrogates. */
function inByteOrder(texts: string[]): string[] {
  return texts.some((text) => /[\ud800-\udfff]/.test(text))
    ? texts.sort(compareBytes)
    : texts.sort();
}
