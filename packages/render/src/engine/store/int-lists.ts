const INITIAL_LENGTH = 256;
/** A list's head: where its items begin, or its only one; how many there are and have room. */
const HEAD = 2;
const START = 0;
const STATE = 1;
/** A state is a length above a room: 0 for none, else one more than the power of two that it is. */
const ROOM_BITS = 5;
const ROOM_MASK = (1 << ROOM_BITS) - 1;
const NO_ROOM = 0;
const ROOM_FOR_ONE = 1;
const NONE = -1;
/** Powers of two that a list's room can be. */
const ROOMS = 31;

/** Where the item of a list of one stands: in the list's head, or with those of the others. */
export type SingleItems = "in heads" | "among items";

/**
 * Many growing lists of 32-bit integers in one array. A list is named by a small integer; one that
 * was never written is empty. Room is a power of two and is used again once a list let go of it.
 *
 * Most lists have one item. With those in heads a list of one costs a single place in memory, but
 * `items` and `start` cannot be asked for.
 */
export class IntLists {
  readonly #hasSingles: boolean;
  #items = new Int32Array(INITIAL_LENGTH);
  #end = 0;
  /** Side by side, so that a list costs one cache line before its items. */
  #heads = new Int32Array(HEAD * 64);
  /** First free place of each power of two; the next one stands in its first item. */
  readonly #free = new Int32Array(ROOMS).fill(NONE);

  constructor(singles: SingleItems = "among items") {
    this.#hasSingles = singles === "in heads";
  }

  /** Makes room for so many lists with so many values in all, known beforehand. */
  reserve(lists: number, values: number): void {
    this.#heads = withRoom(this.#heads, lists * HEAD);
    this.#items = withRoom(this.#items, this.#end + values);
  }

  length(list: number): number {
    return (this.#heads[list * HEAD + STATE] ?? 0) >>> ROOM_BITS;
  }

  at(list: number, index: number): number {
    const start = this.#heads[list * HEAD + START] ?? 0;
    return this.#isInHead(list) ? start : (this.#items[start + index] ?? 0);
  }

  put(list: number, index: number, value: number): void {
    if (this.#isInHead(list)) {
      this.#heads[list * HEAD + START] = value;
    } else {
      this.#items[(this.#heads[list * HEAD + START] ?? 0) + index] = value;
    }
  }

  /** Every list's items; those of one list begin at `start`. Good until the next write. */
  get items(): Int32Array {
    return this.#items;
  }

  /** Where a list's items begin. */
  start(list: number): number {
    return this.#heads[list * HEAD + START] ?? 0;
  }

  /** Appends a value and returns its place. */
  push(list: number, value: number): number {
    const length = this.length(list);
    this.#reserve(list, length + 1);
    this.put(list, length, value);
    this.#putLength(list, length + 1);
    return length;
  }

  /** Inserts a value before an index; what follows moves up. */
  insert(list: number, index: number, value: number): void {
    const length = this.length(list);
    this.#reserve(list, length + 1);
    if (!this.#isInHead(list)) {
      const start = this.start(list);
      this.#items.copyWithin(start + index + 1, start + index, start + length);
    }
    this.put(list, index, value);
    this.#putLength(list, length + 1);
  }

  /** Removes the value at an index; what follows moves down. */
  remove(list: number, index: number): void {
    const length = this.length(list);
    if (!this.#isInHead(list)) {
      const start = this.start(list);
      this.#items.copyWithin(start + index, start + index + 1, start + length);
    }
    this.#putLength(list, length - 1);
  }

  /** Removes the value at an index; the last one takes its place and is returned. */
  swapOut(list: number, index: number): number {
    const last = this.length(list) - 1;
    const moved = this.at(list, last);
    this.put(list, index, moved);
    this.#putLength(list, last);
    return moved;
  }

  /** Replaces a list by the first `length` values. */
  fill(list: number, values: ArrayLike<number>, length = values.length): void {
    if (length === 0) {
      this.clear(list);
      return;
    }
    this.truncate(list);
    this.#reserve(list, length);
    if (this.#isInHead(list)) {
      this.#heads[list * HEAD + START] = values[0] ?? 0;
    } else {
      const start = this.start(list);
      for (let index = 0; index < length; index++) {
        this.#items[start + index] = values[index] ?? 0;
      }
    }
    this.#putLength(list, length);
  }

  /** Empties a list and lets go of its room. */
  clear(list: number): void {
    const room = this.#room(list);
    if (room !== NO_ROOM) {
      if (!this.#isInHead(list)) {
        this.#release(this.start(list), room);
      }
      this.#heads[list * HEAD + STATE] = NO_ROOM;
    }
  }

  /** Empties a list and keeps its room. */
  truncate(list: number): void {
    if (this.length(list) > 0) {
      this.#putLength(list, 0);
    }
  }

  /** A copy of one list. */
  toArray(list: number): Int32Array<ArrayBuffer> {
    const start = this.start(list);
    if (this.#isInHead(list)) {
      return new Int32Array(this.length(list)).fill(start);
    }
    return this.#items.slice(start, start + this.length(list));
  }

  #room(list: number): number {
    return (this.#heads[list * HEAD + STATE] ?? 0) & ROOM_MASK;
  }

  /** True for a list whose only item, if it has one, stands where others begin. */
  #isInHead(list: number): boolean {
    return this.#hasSingles && this.#room(list) === ROOM_FOR_ONE;
  }

  #putLength(list: number, length: number): void {
    this.#heads[list * HEAD + STATE] = (length << ROOM_BITS) | this.#room(list);
  }

  /** Makes room for at least this many values. */
  #reserve(list: number, needed: number): void {
    const head = list * HEAD;
    if (head + HEAD > this.#heads.length) {
      this.#heads = grown(this.#heads, head + HEAD);
    }
    const room = this.#room(list);
    if (room !== NO_ROOM && needed <= 1 << (room - 1)) {
      return;
    }
    const power = needed === 1 ? 0 : 32 - Math.clz32(needed - 1);
    const length = this.length(list);
    const isInHead = this.#hasSingles && power === 0;
    const start = isInHead ? 0 : this.#take(power);
    for (let index = 0; index < length; index++) {
      this.#items[start + index] = this.at(list, index);
    }
    if (room !== NO_ROOM && !this.#isInHead(list)) {
      this.#release(this.start(list), room);
    }
    this.#heads[head + START] = start;
    this.#heads[head + STATE] = (length << ROOM_BITS) | (power + 1);
  }

  #take(power: number): number {
    const free = this.#free[power] ?? NONE;
    if (free !== NONE) {
      this.#free[power] = this.#items[free] ?? NONE;
      return free;
    }
    const start = this.#end;
    this.#end += 1 << power;
    if (this.#end > this.#items.length) {
      this.#items = grown(this.#items, this.#end);
    }
    return start;
  }

  #release(start: number, room: number): void {
    const power = room - 1;
    this.#items[start] = this.#free[power] ?? NONE;
    this.#free[power] = start;
  }
}

/** The same values with room for at least so many and for some more; see `withRoom`. */
export function grown(values: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  return withRoom(values, Math.max(needed, values.length * 2));
}

/**
 * The same values with room for so many. Nothing may still read the array that is given: its memory
 * is free at once instead of waiting for a collection, which hundreds of megabytes of it would bring
 * about. Room that was never written takes no memory, where a transfer to a longer buffer would write
 * all of it.
 */
export function withRoom(values: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (length <= values.length) {
    return values;
  }
  const longer = new Int32Array(length);
  longer.set(values);
  values.buffer.transfer(0);
  return longer;
}
