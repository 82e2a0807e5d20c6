import { grown, IntLists, withRoom } from "./int-lists.ts";

/** What a link is: its two ids and its place in the list of each. */
const LINK = 4;
const LEFT = 0;
const RIGHT = 1;
const LEFT_PLACE = 2;
const RIGHT_PLACE = 3;

/**
 * A relation between two kinds of ids, readable from both sides. Linking and unlinking take constant
 * time, however many links either side has. The same two ids may be linked more than once.
 */
export class Links {
  #links = new Int32Array(LINK * 64);
  readonly #ofLeft = new IntLists("in heads");
  readonly #ofRight = new IntLists("in heads");
  readonly #free: number[] = [];
  #next = 0;

  /** Makes room for so many ids on either side and so many links, known beforehand. */
  reserve(left: number, right: number, links: number): void {
    this.#links = withRoom(this.#links, links * LINK);
    this.#ofLeft.reserve(left, links);
    this.#ofRight.reserve(right, links);
  }

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
    return this.#links[this.#ofLeft.at(left, index) * LINK + RIGHT] ?? 0;
  }

  /** The left id of a right id's link. */
  leftAt(right: number, index: number): number {
    return this.#links[this.#ofRight.at(right, index) * LINK + LEFT] ?? 0;
  }

  link(left: number, right: number): void {
    const link = this.#free.pop() ?? this.#next++;
    const at = link * LINK;
    if (at + LINK > this.#links.length) {
      this.#links = grown(this.#links, at + LINK);
    }
    this.#links[at + LEFT] = left;
    this.#links[at + RIGHT] = right;
    this.#links[at + LEFT_PLACE] = this.#ofLeft.push(left, link);
    this.#links[at + RIGHT_PLACE] = this.#ofRight.push(right, link);
  }

  /** Removes every link of a left id. */
  dropLeft(left: number): void {
    this.#drop(left, this.#ofLeft, this.#ofRight, RIGHT, RIGHT_PLACE);
  }

  /** Removes every link of a right id. */
  dropRight(right: number): void {
    this.#drop(right, this.#ofRight, this.#ofLeft, LEFT, LEFT_PLACE);
  }

  #drop(id: number, own: IntLists, others: IntLists, other: number, otherPlace: number): void {
    for (let index = own.length(id) - 1; index >= 0; index--) {
      const link = own.at(id, index);
      const place = this.#links[link * LINK + otherPlace] ?? 0;
      const moved = others.swapOut(this.#links[link * LINK + other] ?? 0, place);
      this.#links[moved * LINK + otherPlace] = place;
      this.#free.push(link);
    }
    own.clear(id);
  }
}
