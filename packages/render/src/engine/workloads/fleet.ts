import { compareBytes } from "@ringwall/labels";
import type { WorkloadSpec } from "../../model.ts";
import type { LabelIndex } from "../labels/label-index.ts";
import { Column } from "../store/column.ts";
import { Ids } from "../store/ids.ts";
import { grown, IntLists } from "../store/int-lists.ts";
import { Interned } from "../store/interned.ts";
import { TextIds } from "../store/text-ids.ts";
import type { TextTable } from "../store/text-table.ts";
import { type CallerRow, callerRows } from "./callers.ts";
import { Cells, NO_CELL } from "./cells.ts";
import { Holders } from "./holders.ts";
import type { Inventory } from "./inventory.ts";
import { type Serving, sameServing, servingOf } from "./serving.ts";

/** Hears of workloads that come, go and change. */
export interface FleetSinks {
  /** A workload's peer addresses or its label set changed; -1 stands for no set. */
  readonly peersMoved: (
    before: number,
    beforeTexts: ArrayLike<number>,
    after: number,
    afterTexts: ArrayLike<number>,
  ) => void;
  /** What a workload serves, or under which labels, is about to change. */
  readonly withdraw: (workload: number, serving: Serving, set: number) => void;
  readonly offer: (workload: number, serving: Serving, set: number) => void;
}

const NO_TEXTS = new Int32Array(0);
const NO_OUTBOUNDS = 0;
/** What is found for a name that no workload has. */
const NO_WORKLOAD = -1;
/** Most characters of a workload's id. */
const ID_LENGTH = 64;

/** Every workload as rendering needs it: its cell, its addresses, what it serves. */
export class Fleet {
  readonly cells: Cells;
  readonly #labels: LabelIndex;
  readonly #texts: TextTable;
  readonly #inventory: Inventory;
  readonly #sinks: FleetSinks;
  readonly #ids = new Ids();
  readonly #names: string[] = [];
  readonly #byName = new TextIds({
    textOf: (workload) => this.#names[workload],
    hashed: ID_LENGTH,
  });
  /** Workloads that left since the last `sweep`; one that returns has its number again. */
  readonly #departed = new Map<string, number>();
  /** Set of source labels. */
  readonly #source = new Column();
  readonly #enforced = new Column();
  readonly #outboundsOf = new Column();
  /** Peers that a workload is, none once it is expired. */
  readonly #addresses = new IntLists("in heads");
  readonly #holders = new Holders();
  #scratch = new Int32Array(16);
  /** The scratch's first value, since nearly every workload has one address. */
  #one = this.#scratch.subarray(0, 1);
  readonly #serving = new Map<number, Serving>();
  readonly #outbounds = new Interned<readonly string[]>();
  readonly #rows = new Interned<readonly CallerRow[]>();

  constructor(labels: LabelIndex, texts: TextTable, inventory: Inventory, sinks: FleetSinks) {
    this.#labels = labels;
    this.#texts = texts;
    this.#inventory = inventory;
    this.#sinks = sinks;
    this.#outbounds.hold("", () => []);
    this.#rows.hold("", () => []);
    this.cells = new Cells({
      labels,
      inventory,
      outbounds: this.#outbounds,
      rows: this.#rows,
      rowsOf: (workload) => callerRows(this.#serving.get(workload)?.rows ?? []),
    });
  }

  /** Makes room for so many workloads, known beforehand. */
  reserve(workloads: number): void {
    this.#names.length = Math.max(this.#names.length, workloads);
    this.#byName.reserve(workloads);
    this.#holders.reserve(workloads);
    for (const column of [this.#source, this.#enforced, this.#outboundsOf]) {
      column.reserve(workloads);
    }
    this.#addresses.reserve(workloads, workloads);
    this.cells.reserve(workloads);
  }

  get size(): number {
    return this.#byName.size;
  }

  name(workload: number): string {
    return this.#names[workload] ?? "";
  }

  /** Effective label set of a workload; -1 if it has none. */
  setOf(workload: number): number {
    const cell = this.cells.of(workload);
    return cell === NO_CELL ? -1 : this.cells.set(cell);
  }

  addressCount(workload: number): number {
    return this.#addresses.length(workload);
  }

  addressAt(workload: number, index: number): number {
    return this.#addresses.at(workload, index);
  }

  /** Number of workloads that have an address. */
  holderCount(text: number): number {
    return this.#holders.count(text);
  }

  holderAt(text: number, index: number): number {
    return this.#holders.at(text, index);
  }

  servingOf(workload: number): Serving | undefined {
    return this.#serving.size === 0 ? undefined : this.#serving.get(workload);
  }

  /** Adds or replaces a workload. */
  put(spec: WorkloadSpec): void {
    const known = this.#byName.find(spec.id);
    const isNew = known === NO_WORKLOAD;
    const workload = isNew ? this.#create(spec.id) : known;
    const before = isNew ? -1 : this.setOf(workload);
    const source = this.#labels.holdSet(spec.labels);
    if (!isNew) {
      this.#labels.releaseSet(this.#source.at(workload));
    }
    this.#source.put(workload, source);
    this.#enforced.put(workload, spec.enforced ? 1 : 0);
    this.#putOutbounds(workload, spec.outbounds);
    const served = this.servingOf(workload);
    const serving = servingOf(spec);
    if (serving !== served) {
      this.#putServing(workload, serving);
    }
    this.#place(workload);
    const after = this.setOf(workload);
    this.#putAddresses(workload, before, after, spec);
    if (before !== after || !sameServing(served, serving)) {
      this.#changeServing(workload, served, before, serving, after);
    }
  }

  /** Removes a workload; an unknown one is fine. */
  remove(name: string): void {
    const workload = this.#byName.find(name);
    if (workload === NO_WORKLOAD) {
      return;
    }
    const set = this.setOf(workload);
    this.#moveAddresses(workload, set, -1, NO_TEXTS);
    const serving = this.#serving.get(workload);
    if (serving !== undefined) {
      this.#sinks.withdraw(workload, serving, set);
      this.#serving.delete(workload);
    }
    this.cells.take(workload);
    this.#labels.releaseSet(this.#source.at(workload));
    this.#outbounds.release(this.#outboundsOf.at(workload));
    this.#byName.remove(name, workload);
    this.#departed.set(name, workload);
  }

  /** Takes back the numbers of removed workloads, once nobody asks for their names any more. */
  sweep(): void {
    for (const workload of this.#departed.values()) {
      this.#names[workload] = "";
      this.#ids.give(workload);
    }
    this.#departed.clear();
  }

  /** Brings workloads in line with edits of the inventory. */
  *followInventory(perStep: number): Generator<void, void> {
    const { workloads, sets } = this.#inventory.takeTouched();
    let done = 0;
    for (const name of workloads) {
      const workload = this.#byName.find(name);
      if (workload !== NO_WORKLOAD) {
        this.#replace(workload);
      }
      done += 1;
      if (done % perStep === 0) {
        yield;
      }
    }
    for (const set of sets) {
      for (const cell of this.cells.ofBase(set)) {
        done += this.#deriveAgain(cell);
        if (done > perStep) {
          done = 0;
          yield;
        }
      }
    }
  }

  /** Derives a cell's labels anew; moves what its workloads are to others. Returns their number. */
  #deriveAgain(cell: number): number {
    const members = this.cells.members(cell);
    if (!this.cells.isKeyedRight(cell)) {
      for (const workload of members) {
        this.#replace(workload);
      }
      return members.length;
    }
    const before = this.cells.set(cell);
    // What is served under the labels before goes before they do.
    for (const workload of members) {
      const serving = this.#serving.get(workload);
      if (serving !== undefined) {
        this.#sinks.withdraw(workload, serving, before);
      }
    }
    this.cells.derive(cell);
    const after = this.cells.set(cell);
    for (const workload of members) {
      if (before !== after) {
        const texts = this.#addresses.toArray(workload);
        this.#sinks.peersMoved(before, texts, after, texts);
      }
      const serving = this.#serving.get(workload);
      if (serving !== undefined) {
        this.#sinks.offer(workload, serving, after);
      }
    }
    return members.length;
  }

  /** Places a workload whose own unit or whose cell's key changed. */
  #replace(workload: number): void {
    const before = this.setOf(workload);
    this.#place(workload);
    const after = this.setOf(workload);
    if (before !== after) {
      const texts = this.#addresses.toArray(workload);
      this.#sinks.peersMoved(before, texts, after, texts);
      const serving = this.#serving.get(workload);
      this.#changeServing(workload, serving, before, serving, after);
    }
  }

  #create(name: string): number {
    const departed = this.#departed.size === 0 ? undefined : this.#departed.get(name);
    const workload = departed ?? this.#ids.take();
    if (departed !== undefined) {
      this.#departed.delete(name);
    }
    this.#names[workload] = name;
    this.#byName.add(name, workload);
    this.#outboundsOf.put(workload, NO_OUTBOUNDS);
    this.#outbounds.keep(NO_OUTBOUNDS);
    this.cells.create(workload);
    return workload;
  }

  #place(workload: number): void {
    const own = this.#inventory.ownOf(this.name(workload));
    const source = this.#source.at(workload);
    const enforced = this.#enforced.at(workload) === 1;
    const outbounds = this.#outboundsOf.at(workload);
    if (own?.spec.labels === undefined) {
      this.cells.place(workload, source, own, enforced, outbounds);
      return;
    }
    const labels = this.#inventory.baseLabels(this.#labels.labels(source), own);
    const base = this.#labels.holdSet(labels);
    this.cells.place(workload, base, own, enforced, outbounds);
    this.#labels.releaseSet(base);
  }

  #putOutbounds(workload: number, outbounds: readonly string[]): void {
    const before = this.#outboundsOf.at(workload);
    if (outbounds.length === 0 && before === NO_OUTBOUNDS) {
      return;
    }
    const sorted = [...new Set(outbounds)].sort(compareBytes);
    const held = this.#outbounds.hold(
      sorted.length === 0 ? "" : JSON.stringify(sorted),
      () => sorted,
    );
    this.#outbounds.release(before);
    this.#outboundsOf.put(workload, held);
  }

  #putServing(workload: number, serving: Serving | undefined): void {
    if (serving === undefined) {
      this.#serving.delete(workload);
    } else {
      this.#serving.set(workload, serving);
    }
  }

  #changeServing(
    workload: number,
    served: Serving | undefined,
    before: number,
    serving: Serving | undefined,
    after: number,
  ): void {
    if (served !== undefined) {
      this.#sinks.withdraw(workload, served, before);
    }
    if (serving !== undefined) {
      this.#sinks.offer(workload, serving, after);
    }
  }

  #putAddresses(workload: number, before: number, after: number, spec: WorkloadSpec): void {
    // An expired workload is nobody's peer any more.
    const count = spec.presence === "expired" ? 0 : this.#readAddresses(spec.addresses);
    const texts = count === 0 ? NO_TEXTS : count === 1 ? this.#one : this.#scratch.slice(0, count);
    if (before === after && this.#hasAddresses(workload, texts)) {
      for (const text of texts) {
        this.#texts.release(text);
      }
      return;
    }
    this.#moveAddresses(workload, before, after, texts);
  }

  /** Holds addresses and writes each once to the scratch; their number. */
  #readAddresses(addresses: readonly string[]): number {
    let count = 0;
    for (let index = 0; index < addresses.length; index++) {
      const text = this.#texts.holdCidr(addresses[index] ?? "");
      let at = 0;
      while (at < count && this.#scratch[at] !== text) {
        at += 1;
      }
      if (at < count) {
        this.#texts.release(text);
        continue;
      }
      if (count === this.#scratch.length) {
        this.#scratch = grown(this.#scratch, count + 1);
        this.#one = this.#scratch.subarray(0, 1);
      }
      this.#scratch[count++] = text;
    }
    return count;
  }

  #hasAddresses(workload: number, texts: Int32Array): boolean {
    return (
      this.#addresses.length(workload) === texts.length &&
      texts.every((text, index) => this.#addresses.at(workload, index) === text)
    );
  }

  /** Gives a workload other addresses, of which it has references, and tells whom it concerns. */
  #moveAddresses(workload: number, before: number, after: number, texts: ArrayLike<number>): void {
    const former =
      this.#addresses.length(workload) === 0 ? NO_TEXTS : this.#addresses.toArray(workload);
    for (let index = 0; index < former.length; index++) {
      this.#holders.remove(former[index] ?? 0, workload);
    }
    for (let index = 0; index < texts.length; index++) {
      this.#holders.add(texts[index] ?? 0, workload);
    }
    this.#addresses.fill(workload, texts);
    this.#sinks.peersMoved(before, former, after, texts);
    for (let index = 0; index < former.length; index++) {
      this.#texts.release(former[index] ?? 0);
    }
  }
}
