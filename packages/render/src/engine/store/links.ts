import { Column } from "./column.ts";
import { IntLists } from "./int-lists.ts";

/**
 * A relation between two kinds of ids, readable from both sides. Linking and unlinking take constant
 * time, however many links either side has. The same two ids may be linked more than once.
 */
export class Links {
  readonly #left = new Column();
  readonly #right = new Column();
  /** Place of a link in its left and in its right id's list. */
  readonly #leftPlace = new Column();
  readonly #rightPlace = new Column();
  readonly #ofLeft = new IntLists();
  readonly #ofRight = new IntLists();
  readonly #free: number[] = [];
  #next = 0;

  /** Number of links of a left id. */
  countOfLeft(left: number): number {
    return this.#ofLeft.length(left);
  }

  /** Number of links of a right id. */
  countOfRight(right: number): number {
    return this.#ofRight.length(right);
  }

  /** The right id of a left id's link. */
  rightAt(left: number, index: number): number {
    return this.#right.at(this.#ofLeft.at(left, index));
  }

  /** The left id of a right id's link. */
  leftAt(right: number, index: number): number {
    return this.#left.at(this.#ofRight.at(right, index));
  }

  link(left: number, right: number): void {
    const link = this.#free.pop() ?? this.#next++;
    this.#left.put(link, left);
    this.#right.put(link, right);
    this.#leftPlace.put(link, this.#ofLeft.push(left, link));
    this.#rightPlace.put(link, this.#ofRight.push(right, link));
  }

  /** Removes every link of a left id. */
  dropLeft(left: number): void {
    for (let index = this.#ofLeft.length(left) - 1; index >= 0; index--) {
      const link = this.#ofLeft.at(left, index);
      this.#takeOut(this.#ofRight, this.#rightPlace, this.#right.at(link), link);
      this.#free.push(link);
    }
    this.#ofLeft.clear(left);
  }

  /** Removes every link of a right id. */
  dropRight(right: number): void {
    for (let index = this.#ofRight.length(right) - 1; index >= 0; index--) {
      const link = this.#ofRight.at(right, index);
      this.#takeOut(this.#ofLeft, this.#leftPlace, this.#left.at(link), link);
      this.#free.push(link);
    }
    this.#ofRight.clear(right);
  }

  #takeOut(lists: IntLists, places: Column, id: number, link: number): void {
    const place = places.at(link);
    const moved = lists.swapOut(id, place);
    places.put(moved, place);
  }
}
