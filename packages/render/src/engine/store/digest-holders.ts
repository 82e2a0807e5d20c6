import { TextIds } from "./text-ids.ts";

/** Characters of a digest that are hashed: nobody chooses them, so few tell all apart. */
const HASHED = 8;

/** Who has a digest: one holder in nearly every case. */
export class DigestHolders {
  /** One holder of each digest. */
  readonly #first: TextIds;
  /** Every holder of a digest that has several. */
  readonly #shared = new Map<string, Set<number>>();

  /** Finds holders by the digests that they have. */
  constructor(digestOf: (holder: number) => string | undefined) {
    this.#first = new TextIds({ textOf: digestOf, hashed: HASHED });
  }

  /** Makes room for so many holders, known beforehand. */
  reserve(holders: number): void {
    this.#first.reserve(holders);
  }

  /** Adds a holder, which has the digest already. */
  add(digest: string, holder: number): void {
    const first = this.#first.find(digest);
    if (first < 0) {
      this.#first.add(digest, holder);
      return;
    }
    const shared = this.#shared.get(digest);
    if (shared === undefined) {
      this.#shared.set(digest, new Set([first, holder]));
    } else {
      shared.add(holder);
    }
  }

  /** Removes a holder, which still has the digest. */
  remove(digest: string, holder: number): void {
    const shared = this.#shared.get(digest);
    shared?.delete(holder);
    if (this.#first.find(digest) === holder) {
      this.#first.remove(digest, holder);
      const [next] = shared ?? [];
      if (next !== undefined) {
        this.#first.add(digest, next);
      }
    }
    if (shared !== undefined && shared.size < 2) {
      this.#shared.delete(digest);
    }
  }

  first(digest: string): number | undefined {
    const holder = this.#first.find(digest);
    return holder < 0 ? undefined : holder;
  }
}
