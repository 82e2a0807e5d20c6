import { effectiveSplits, routeName, type Selection } from "@ringwall/routes";
import { type FixedSize, fixedSizeOfRoutes } from "../bodies/sizes.ts";
import { Column } from "../store/column.ts";
import { Ids } from "../store/ids.ts";
import { Links } from "../store/links.ts";
import { Sequences } from "../store/sequences.ts";
import type { Bucket, Buckets } from "./buckets.ts";
import type { VirtualNames } from "./virtual-names.ts";

/** Virtual addresses that a body shows: only those of families that have endpoints. */
export interface ShownAddresses {
  readonly v4: string;
  readonly v6: string;
}

/** One weighted part of a decision. */
export interface DecidedSplit {
  readonly key: string;
  readonly weight: number;
  readonly bucket: Bucket;
}

/** Where an outbound leads by one route. Callers that are led alike share it. */
export interface Decision {
  readonly index: number;
  readonly outbound: string;
  /** `<namespace>/<name>` of the route; empty for the implicit one. */
  readonly provenance: string;
  /** In byte order of their keys. */
  readonly splits: readonly DecidedSplit[];
  shown: ShownAddresses;
  /** What was shown before the present flush. */
  shownBefore: ShownAddresses;
  /** The route as a field of a BodyManifest; undefined until one was written as it is now. */
  encoded: Uint8Array | undefined;
}

/** Decisions of one or more callers, in byte order of their outbounds. Equal ones are one object. */
export interface RouteList {
  readonly index: number;
  readonly decisions: readonly Decision[];
  readonly fixedSize: FixedSize;
}

interface Entry extends Decision {
  readonly key: string;
  references: number;
}

const NOTHING_SHOWN: ShownAddresses = { v4: "", v6: "" };

/** Interns decisions and lists of them, and knows what a changed bucket or name concerns. */
export class Decisions {
  readonly #buckets: Buckets;
  readonly #names: VirtualNames;
  readonly #ids = new Ids();
  readonly #byKey = new Map<string, Entry>();
  readonly #byIndex: (Entry | undefined)[] = [];
  readonly #byOutbound = new Map<string, Set<Entry>>();
  /** From buckets' sets to decisions. */
  readonly #byBucket = new Links();
  readonly #unused = new Set<Entry>();
  #dirty = new Set<Entry>();
  #shownChanged = new Set<Entry>();
  readonly #lists = new Sequences();
  readonly #listReferences = new Column();
  readonly #listObjects: (RouteList | undefined)[] = [];
  readonly #unusedLists = new Set<RouteList>();
  /** From decisions to the lists that they are in. */
  readonly #byDecision = new Links();

  constructor(buckets: Buckets, names: VirtualNames) {
    this.#buckets = buckets;
    this.#names = names;
  }

  /** The decision for an outbound, by an id of the route that was chosen. Holds no reference. */
  intern(outbound: string, { route, split }: Selection, routeId: number): Decision {
    const key = `${routeId} ${outbound}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      return known;
    }
    const entry: Entry = {
      index: this.#ids.take(),
      key,
      outbound,
      provenance: route === undefined ? "" : routeName(route),
      splits: effectiveSplits(split).map(({ tags, key: text, weight }) => ({
        key: text,
        weight,
        bucket: this.#buckets.hold(tags),
      })),
      shown: NOTHING_SHOWN,
      shownBefore: NOTHING_SHOWN,
      encoded: undefined,
      references: 0,
    };
    this.#byKey.set(key, entry);
    this.#byIndex[entry.index] = entry;
    const siblings = this.#byOutbound.get(outbound);
    if (siblings === undefined) {
      this.#byOutbound.set(outbound, new Set([entry]));
    } else {
      siblings.add(entry);
    }
    for (const { bucket } of entry.splits) {
      this.#byBucket.link(bucket.set, entry.index);
    }
    this.#unused.add(entry);
    this.#dirty.add(entry);
    return entry;
  }

  /** Takes a reference to the list of these decisions. */
  holdList(decisions: readonly Decision[]): RouteList {
    const index = this.#lists.intern(decisions.map((decision) => decision.index));
    let list = this.#listObjects[index];
    if (this.#lists.created || list === undefined) {
      list = { index, decisions, fixedSize: fixedSizeOfRoutes(decisions) };
      this.#listObjects[index] = list;
      this.#listReferences.put(index, 0);
      for (const decision of decisions) {
        this.#byDecision.link(decision.index, index);
        const entry = this.#byIndex[decision.index];
        if (entry !== undefined) {
          entry.references += 1;
        }
      }
    }
    this.keepList(list);
    return list;
  }

  /** Takes one more reference to a list. */
  keepList(list: RouteList): void {
    this.#listReferences.add(list.index, 1);
  }

  releaseList(list: RouteList): void {
    if (this.#listReferences.add(list.index, -1) === 0) {
      this.#unusedLists.add(list);
    }
  }

  /** Follows buckets and names that changed; the lists whose rendering may have changed. */
  update(): ReadonlySet<number> {
    const changed = new Set<Entry>();
    for (const { set } of this.#buckets.update()) {
      for (let index = this.#byBucket.countOfLeft(set) - 1; index >= 0; index--) {
        const entry = this.#byIndex[this.#byBucket.rightAt(set, index)];
        if (entry !== undefined) {
          this.#dirty.add(entry);
          changed.add(entry);
        }
      }
    }
    for (const name of this.#names.update()) {
      for (const entry of this.#byOutbound.get(name) ?? []) {
        this.#dirty.add(entry);
      }
    }
    for (const entry of this.#dirty) {
      if (this.#show(entry)) {
        changed.add(entry);
      }
    }
    this.#dirty = new Set();
    const lists = new Set<number>();
    for (const entry of changed) {
      const { index } = entry;
      entry.encoded = undefined;
      for (let at = this.#byDecision.countOfLeft(index) - 1; at >= 0; at--) {
        lists.add(this.#byDecision.rightAt(index, at));
      }
    }
    return lists;
  }

  /** Forgets what nobody holds and what decisions showed before. */
  sweep(): void {
    for (const entry of this.#shownChanged) {
      entry.shownBefore = entry.shown;
    }
    this.#shownChanged = new Set();
    for (const list of this.#unusedLists) {
      if (this.#listReferences.at(list.index) === 0) {
        this.#dropList(list);
      }
    }
    this.#unusedLists.clear();
    for (const entry of this.#unused) {
      if (entry.references === 0) {
        this.#drop(entry);
      }
    }
    this.#unused.clear();
  }

  #show(entry: Entry): boolean {
    const { v4, v6 } = this.#names.of(entry.outbound) ?? NOTHING_SHOWN;
    const shown = {
      v4: entry.splits.some(({ bucket }) => bucket.v4 > 0) ? v4 : "",
      v6: entry.splits.some(({ bucket }) => bucket.v6 > 0) ? v6 : "",
    };
    if (shown.v4 === entry.shown.v4 && shown.v6 === entry.shown.v6) {
      return false;
    }
    entry.shown = shown;
    this.#shownChanged.add(entry);
    return true;
  }

  #dropList(list: RouteList): void {
    this.#byDecision.dropRight(list.index);
    this.#lists.remove(list.index);
    this.#listObjects[list.index] = undefined;
    for (const { index } of list.decisions) {
      const entry = this.#byIndex[index];
      if (entry !== undefined) {
        entry.references -= 1;
        if (entry.references === 0) {
          this.#unused.add(entry);
        }
      }
    }
  }

  #drop(entry: Entry): void {
    this.#byKey.delete(entry.key);
    this.#byIndex[entry.index] = undefined;
    const siblings = this.#byOutbound.get(entry.outbound);
    siblings?.delete(entry);
    if (siblings?.size === 0) {
      this.#byOutbound.delete(entry.outbound);
    }
    this.#byBucket.dropRight(entry.index);
    for (const { bucket } of entry.splits) {
      this.#buckets.release(bucket);
    }
    this.#ids.give(entry.index);
  }
}
