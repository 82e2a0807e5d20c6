import { inboundTags, SERVICE_TAG, selectorMatches, type Tags, tagsText } from "@ringwall/routes";
import type { LabelIndex } from "../labels/label-index.ts";
import type { ByteWriter } from "../store/byte-writer.ts";
import { Ids } from "../store/ids.ts";
import { TextSets } from "../store/text-sets.ts";
import type { TextTable } from "../store/text-table.ts";
import type { Serving } from "../workloads/serving.ts";
import { isIpv6Endpoint, readServed } from "./served.ts";

/** Endpoints that one set of tags leads to. */
export interface Bucket {
  /** Number of its endpoint set. */
  readonly set: number;
  readonly tags: Tags;
  readonly service: string;
  /** Endpoints of each family. */
  v4: number;
  v6: number;
}

interface Entry extends Bucket {
  readonly key: string;
  /** How many rows give an endpoint. */
  readonly counts: Map<number, number>;
  readonly touched: Set<number>;
  references: number;
}

/** What endpoints are looked up in. */
export interface ServingFleet {
  servingOf(workload: number): Serving | undefined;
  setOf(workload: number): number;
}

/** What buckets are made with. */
export interface BucketsBase {
  readonly labels: LabelIndex;
  readonly texts: TextTable;
  readonly writer: ByteWriter;
  readonly fleet: () => ServingFleet;
}

/** Byte that an EndpointSet is hashed with. */
const ENDPOINT_SET_TYPE = 2;

/** Endpoint sets of the tags that routes lead to; an endpoint that comes or goes touches only those. */
export class Buckets {
  readonly sets: TextSets;
  readonly #base: BucketsBase;
  readonly #ids = new Ids();
  readonly #byKey = new Map<string, Entry>();
  readonly #byService = new Map<string, Set<Entry>>();
  /** Workloads that serve a service. */
  readonly #servers = new Map<string, Set<number>>();
  #dirty = new Set<Entry>();
  #unused = new Set<Entry>();
  #skipped = 0;

  constructor(base: BucketsBase) {
    this.#base = base;
    this.sets = new TextSets({ type: ENDPOINT_SET_TYPE, texts: base.texts, writer: base.writer });
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Rows and addresses that are left out. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Takes a reference to the bucket of these tags. */
  hold(tags: Tags): Bucket {
    const key = tagsText(tags);
    let entry = this.#byKey.get(key);
    if (entry === undefined) {
      entry = this.#create(key, tags);
    }
    entry.references += 1;
    return entry;
  }

  release({ tags }: Bucket): void {
    const entry = this.#byKey.get(tagsText(tags));
    if (entry !== undefined) {
      entry.references -= 1;
      if (entry.references === 0) {
        this.#unused.add(entry);
      }
    }
  }

  /** Forgets buckets that nobody holds. */
  sweep(): void {
    for (const entry of this.#unused) {
      if (entry.references === 0) {
        this.#drop(entry);
      }
    }
    this.#unused = new Set();
  }

  /** Takes in what a workload serves under a label set. */
  offer(workload: number, serving: Serving, set: number): void {
    this.#count(workload, serving, set, 1);
  }

  /** Takes out what a workload served under a label set. */
  withdraw(workload: number, serving: Serving, set: number): void {
    this.#count(workload, serving, set, -1);
  }

  /** Brings endpoint sets in line; the buckets that changed. */
  update(): readonly Bucket[] {
    const changed: Bucket[] = [];
    for (const entry of this.#dirty) {
      if (this.#look(entry)) {
        changed.push(entry);
      }
    }
    this.#dirty = new Set();
    return changed;
  }

  #create(key: string, tags: Tags): Entry {
    const service = tags[SERVICE_TAG] ?? "";
    const entry: Entry = {
      set: this.#ids.take(),
      key,
      tags,
      service,
      v4: 0,
      v6: 0,
      counts: new Map(),
      touched: new Set(),
      references: 0,
    };
    this.#byKey.set(key, entry);
    const buckets = this.#byService.get(service);
    if (buckets === undefined) {
      this.#byService.set(service, new Set([entry]));
    } else {
      buckets.add(entry);
    }
    const fleet = this.#base.fleet();
    for (const workload of this.#servers.get(service) ?? []) {
      const serving = fleet.servingOf(workload);
      if (serving !== undefined) {
        this.#countIn(entry, serving, fleet.setOf(workload));
      }
    }
    return entry;
  }

  #drop(entry: Entry): void {
    this.#byKey.delete(entry.key);
    const buckets = this.#byService.get(entry.service);
    buckets?.delete(entry);
    if (buckets?.size === 0) {
      this.#byService.delete(entry.service);
    }
    for (const [text, count] of entry.counts) {
      for (let held = 0; held < count; held++) {
        this.#base.texts.release(text);
      }
    }
    this.sets.drop(entry.set);
    this.#ids.give(entry.set);
  }

  #countIn(entry: Entry, serving: Serving, set: number): void {
    const labels = this.#base.labels.labels(set);
    for (const { row, endpoints } of readServed(serving).rows) {
      if (row.service === entry.service) {
        const tags = inboundTags(row.service, labels, row.metadata);
        if (selectorMatches(entry.tags, tags)) {
          this.#adjust(entry, endpoints, 1);
        }
      }
    }
  }

  #count(workload: number, serving: Serving, set: number, by: 1 | -1): void {
    const { rows, skipped } = readServed(serving);
    this.#skipped += skipped * by;
    let labels: Tags | undefined;
    for (const { row, endpoints } of rows) {
      this.#countServer(row.service, workload, by);
      for (const entry of this.#byService.get(row.service) ?? []) {
        labels ??= this.#base.labels.labels(set);
        if (selectorMatches(entry.tags, inboundTags(row.service, labels, row.metadata))) {
          this.#adjust(entry, endpoints, by);
        }
      }
    }
  }

  #countServer(service: string, workload: number, by: 1 | -1): void {
    const servers = this.#servers.get(service);
    if (by === 1) {
      if (servers === undefined) {
        this.#servers.set(service, new Set([workload]));
      } else {
        servers.add(workload);
      }
    } else {
      servers?.delete(workload);
      if (servers?.size === 0) {
        this.#servers.delete(service);
      }
    }
  }

  #adjust(entry: Entry, endpoints: readonly string[], by: 1 | -1): void {
    const { texts } = this.#base;
    for (const endpoint of endpoints) {
      const text = texts.hold(endpoint);
      const count = (entry.counts.get(text) ?? 0) + by;
      if (count === 0) {
        entry.counts.delete(text);
      } else {
        entry.counts.set(text, count);
      }
      if (by === -1) {
        texts.release(text);
        texts.release(text);
      }
      entry.touched.add(text);
      this.#dirty.add(entry);
    }
  }

  #look(entry: Entry): boolean {
    const added: number[] = [];
    const removed: number[] = [];
    for (const text of entry.touched) {
      const has = this.sets.find(entry.set, text) >= 0;
      const wanted = entry.counts.has(text);
      if (has !== wanted) {
        (wanted ? added : removed).push(text);
      }
    }
    entry.touched.clear();
    this.#countFamilies(entry, added, 1);
    this.#countFamilies(entry, removed, -1);
    if (added.length + removed.length === 0) {
      return false;
    }
    this.sets.change(entry.set, added, removed);
    return true;
  }

  #countFamilies(entry: Entry, texts: readonly number[], by: 1 | -1): void {
    for (const text of texts) {
      if (isIpv6Endpoint(this.#base.texts.text(text))) {
        entry.v6 += by;
      } else {
        entry.v4 += by;
      }
    }
  }
}
