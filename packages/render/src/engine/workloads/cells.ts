import type { ModeName } from "../../model.ts";
import type { LabelIndex } from "../labels/label-index.ts";
import { Column } from "../store/column.ts";
import { IntLists } from "../store/int-lists.ts";
import type { Interned } from "../store/interned.ts";
import { Sequences } from "../store/sequences.ts";
import { type CallerRow, callerRowsText } from "./callers.ts";
import type { Inventory, OwnUnit } from "./inventory.ts";

/** No cell, where a cell is asked for. */
export const NO_CELL = -1;
/** Key of rows where no outbounds make them matter; others are above. */
const NO_ROWS = 0;

/** What a cell is derived from. */
export interface CellsBase {
  readonly labels: LabelIndex;
  readonly inventory: Inventory;
  readonly outbounds: Interned<readonly string[]>;
  readonly rows: Interned<readonly CallerRow[]>;
  readonly rowsOf: (workload: number) => readonly CallerRow[];
}

/** Effective mode of a cell's workloads. */
export interface CellMode {
  readonly mode: ModeName;
  /** True if a unit names a mode weaker than enforced. */
  readonly weaker: boolean;
}

const BASE = 0;
const OWN = 1;
const ENFORCED = 2;
const OUTBOUNDS = 3;
const ROWS = 4;

/**
 * Workloads that nothing distinguishes but their name, their addresses and what they serve: one cell.
 * Whatever follows from labels, mode and outbounds is derived once for a cell, so that an edit which
 * concerns ten thousand workloads moves a few cells.
 */
export class Cells {
  readonly #base: CellsBase;
  readonly #keys = new Sequences();
  readonly #set = new Column();
  readonly #modes: CellMode[] = [];
  readonly #outbounds = new Map<number, readonly string[]>();
  /** A workload's cell, + 1, and its place among the cell's members. */
  readonly #cellOf = new Column();
  readonly #place = new Column();
  readonly #members = new IntLists("in heads");
  /** Cell, + 1, of a base set's workloads that have nothing but labels. */
  readonly #plain = new Column();
  readonly #byBase = new IntLists("in heads");
  readonly #basePlace = new Column();
  readonly #bySet = new IntLists("in heads");
  readonly #setPlace = new Column();
  /** Cells that were made or derived anew, until they are taken. */
  #touched: number[] = [];
  /** Cells that lost their last member, until `dropEmpty`. */
  #emptied: number[] = [];
  /** Effective label sets that lost their last cell, until they are taken. */
  #vacated: number[] = [];
  /** Workloads that came, left or moved, until they are taken; their cell before, + 2. */
  #moved: number[] = [];
  readonly #movedFrom = new Column();
  readonly #key = new Int32Array(5);

  constructor(base: CellsBase) {
    this.#base = base;
  }

  /** Makes room for so many workloads, known beforehand; there are no more cells than those. */
  reserve(workloads: number): void {
    this.#keys.reserve(workloads, 8);
    for (const column of [
      this.#set,
      this.#cellOf,
      this.#place,
      this.#plain,
      this.#basePlace,
      this.#setPlace,
      this.#movedFrom,
    ]) {
      column.reserve(workloads);
    }
    for (const lists of [this.#members, this.#byBase, this.#bySet]) {
      lists.reserve(workloads, workloads);
    }
  }

  /** Number of cells. */
  get size(): number {
    return this.#keys.size;
  }

  /** Cell of a workload. */
  of(workload: number): number {
    return this.#cellOf.at(workload) - 1;
  }

  /** Effective label set. */
  set(cell: number): number {
    return this.#set.at(cell);
  }

  mode(cell: number): CellMode {
    return this.#modes[cell] ?? VISIBILITY;
  }

  /** Effective outbounds in byte order. */
  outbounds(cell: number): readonly string[] {
    return this.#outbounds.get(cell) ?? NOTHING;
  }

  /** Rows that routes are chosen by. */
  rows(cell: number): readonly CallerRow[] {
    return this.#base.rows.get(this.#keys.at(cell, ROWS) - 1) ?? [];
  }

  /** Id of those rows. */
  rowsId(cell: number): number {
    return this.#keys.at(cell, ROWS);
  }

  memberCount(cell: number): number {
    return this.#members.length(cell);
  }

  memberAt(cell: number, index: number): number {
    return this.#members.at(cell, index);
  }

  /** A copy of a cell's members. */
  members(cell: number): Int32Array {
    return this.#members.toArray(cell);
  }

  /** A copy of the cells of a base label set. */
  ofBase(set: number): Int32Array {
    return this.#byBase.toArray(set);
  }

  /** Number of cells with an effective label set. */
  countOfSet(set: number): number {
    return this.#bySet.length(set);
  }

  ofSetAt(set: number, index: number): number {
    return this.#bySet.at(set, index);
  }

  /** Makes a new workload known; it is in no cell yet. */
  create(workload: number): void {
    this.#cellOf.put(workload, 0);
  }

  /** Puts a workload into the cell of a base label set, its own unit, mark and outbounds. */
  place(
    workload: number,
    base: number,
    own: OwnUnit | undefined,
    enforced: boolean,
    outbounds: number,
  ): void {
    const { inventory, rows } = this.#base;
    const keyed = outbounds !== 0 || inventory.declaresOutbounds(base, own);
    let rowsId = NO_ROWS;
    if (keyed) {
      const found = this.#base.rowsOf(workload);
      rowsId = rows.hold(callerRowsText(found), () => found) + 1;
    }
    const cell = this.#intern(base, own, enforced, outbounds, rowsId);
    if (keyed) {
      rows.release(rowsId - 1);
    }
    if (this.of(workload) !== cell) {
      this.#noteMove(workload);
      this.#leave(workload);
      this.#cellOf.put(workload, cell + 1);
      this.#place.put(workload, this.#members.push(cell, workload));
    }
  }

  /** Takes a workload out for good. */
  take(workload: number): void {
    this.#noteMove(workload);
    this.#leave(workload);
    this.#cellOf.put(workload, 0);
  }

  /** False if outbounds came or went, which makes rows matter or not. */
  isKeyedRight(cell: number): boolean {
    const { inventory } = this.#base;
    const own = inventory.ownUnit(this.#keys.at(cell, OWN));
    const keyed =
      this.#keys.at(cell, OUTBOUNDS) !== 0 ||
      inventory.declaresOutbounds(this.#keys.at(cell, BASE), own);
    return keyed === (this.#keys.at(cell, ROWS) !== NO_ROWS);
  }

  /** Derives a cell anew from the inventory. */
  derive(cell: number): void {
    const before = this.#set.at(cell);
    this.#apply(cell);
    this.#leaveSet(cell, before);
    this.#setPlace.put(cell, this.#bySet.push(this.#set.at(cell), cell));
    this.#base.labels.releaseSet(before);
    this.#touched.push(cell);
  }

  /** Cells that were made or derived anew since this was asked last. */
  takeTouched(): readonly number[] {
    const touched = this.#touched;
    this.#touched = [];
    return touched;
  }

  /** Workloads that came, left or moved since this was asked last, each once. */
  takeMoved(): readonly number[] {
    const moved = this.#moved;
    this.#moved = [];
    return moved;
  }

  /** Cell of a moved workload before it moved; asked once. */
  takeFormer(workload: number): number {
    const former = this.#movedFrom.at(workload) - 2;
    this.#movedFrom.put(workload, 0);
    return former;
  }

  /** True for a workload that moved and whose former cell was not taken yet. */
  hasMoved(workload: number): boolean {
    return this.#movedFrom.at(workload) !== 0;
  }

  /** Cells without a member that can be dropped. */
  takeEmptied(): readonly number[] {
    const emptied = new Set(this.#emptied);
    this.#emptied = [];
    return [...emptied].filter((cell) => this.#members.length(cell) === 0);
  }

  /** Effective label sets that lost their last cell since this was asked last, and got none. */
  takeVacated(): readonly number[] {
    const vacated = this.#vacated;
    this.#vacated = [];
    return vacated.filter((set) => this.#bySet.length(set) === 0);
  }

  /** Forgets a cell without members. */
  drop(cell: number): void {
    const { labels, outbounds, rows } = this.#base;
    const base = this.#keys.at(cell, BASE);
    const set = this.#set.at(cell);
    this.#unlist(this.#byBase, this.#basePlace, base, cell);
    if (this.#plain.at(base) === cell + 1) {
      this.#plain.put(base, 0);
    }
    this.#leaveSet(cell, set);
    labels.releaseSet(base);
    labels.releaseSet(set);
    outbounds.release(this.#keys.at(cell, OUTBOUNDS));
    const rowsId = this.#keys.at(cell, ROWS);
    if (rowsId !== NO_ROWS) {
      rows.release(rowsId - 1);
    }
    this.#outbounds.delete(cell);
    this.#members.clear(cell);
    this.#keys.remove(cell);
  }

  #intern(
    base: number,
    own: OwnUnit | undefined,
    enforced: boolean,
    outbounds: number,
    rowsId: number,
  ): number {
    const isPlain = own === undefined && !enforced && outbounds === 0 && rowsId === NO_ROWS;
    const known = isPlain ? this.#plain.at(base) - 1 : NO_CELL;
    if (known !== NO_CELL) {
      return known;
    }
    this.#key[BASE] = base;
    this.#key[OWN] = own?.id ?? 0;
    this.#key[ENFORCED] = enforced ? 1 : 0;
    this.#key[OUTBOUNDS] = outbounds;
    this.#key[ROWS] = rowsId;
    const cell = this.#keys.intern(this.#key);
    if (this.#keys.created) {
      this.#create(cell, base, outbounds, rowsId);
    }
    if (isPlain) {
      this.#plain.put(base, cell + 1);
    }
    return cell;
  }

  #create(cell: number, base: number, outbounds: number, rowsId: number): void {
    this.#base.labels.keepSet(base);
    this.#base.outbounds.keep(outbounds);
    if (rowsId !== NO_ROWS) {
      this.#base.rows.keep(rowsId - 1);
    }
    this.#basePlace.put(cell, this.#byBase.push(base, cell));
    this.#apply(cell);
    this.#setPlace.put(cell, this.#bySet.push(this.#set.at(cell), cell));
    this.#touched.push(cell);
  }

  /** Reads labels, mode and outbounds of a cell; holds its effective set. */
  #apply(cell: number): void {
    const { labels, inventory, outbounds } = this.#base;
    const set = this.#keys.at(cell, BASE);
    const declared = outbounds.get(this.#keys.at(cell, OUTBOUNDS)) ?? NOTHING;
    if (this.#keys.at(cell, OWN) === 0 && inventory.isSilent(set)) {
      labels.keepSet(set);
      this.#set.put(cell, set);
      this.#modes[cell] = this.#keys.at(cell, ENFORCED) === 1 ? ENFORCED_MARK : VISIBILITY;
      this.#putOutbounds(cell, declared);
      return;
    }
    const overlay = inventory.overlay({
      set,
      own: inventory.ownUnit(this.#keys.at(cell, OWN)),
      enforced: this.#keys.at(cell, ENFORCED) === 1,
      outbounds: declared,
    });
    if (overlay.labels === undefined) {
      labels.keepSet(set);
      this.#set.put(cell, set);
    } else {
      this.#set.put(cell, labels.holdSet(overlay.labels));
    }
    this.#modes[cell] = modeOf(overlay);
    this.#putOutbounds(cell, overlay.outbounds);
  }

  #putOutbounds(cell: number, outbounds: readonly string[]): void {
    if (outbounds.length > 0) {
      this.#outbounds.set(cell, outbounds);
    } else if (this.#outbounds.size > 0) {
      this.#outbounds.delete(cell);
    }
  }

  #noteMove(workload: number): void {
    if (this.#movedFrom.at(workload) === 0) {
      this.#movedFrom.put(workload, this.of(workload) + 2);
      this.#moved.push(workload);
    }
  }

  #leave(workload: number): void {
    const cell = this.of(workload);
    if (cell === NO_CELL) {
      return;
    }
    const place = this.#place.at(workload);
    this.#place.put(this.#members.swapOut(cell, place), place);
    if (this.#members.length(cell) === 0) {
      this.#emptied.push(cell);
    }
  }

  #leaveSet(cell: number, set: number): void {
    this.#unlist(this.#bySet, this.#setPlace, set, cell);
    if (this.#bySet.length(set) === 0) {
      this.#vacated.push(set);
    }
  }

  #unlist(lists: IntLists, places: Column, list: number, cell: number): void {
    const place = places.at(cell);
    places.put(lists.swapOut(list, place), place);
  }
}

const NOTHING: readonly string[] = [];
const VISIBILITY: CellMode = { mode: "visibility", weaker: false };
const ENFORCED_MARK: CellMode = { mode: "enforced", weaker: false };
const SHARED: readonly CellMode[] = [
  VISIBILITY,
  { mode: "visibility", weaker: true },
  { mode: "simulation", weaker: true },
  ENFORCED_MARK,
];

function modeOf({ mode, weaker }: CellMode): CellMode {
  return SHARED.find((each) => each.mode === mode && each.weaker === weaker) ?? { mode, weaker };
}
