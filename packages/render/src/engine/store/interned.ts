import { Ids } from "./ids.ts";

interface Entry<T> {
  readonly key: string;
  readonly value: T;
  references: number;
}

/** Interns values by a text that says all of them, counted by those who hold them. */
export class Interned<T> {
  readonly #ids = new Ids();
  readonly #byKey = new Map<string, number>();
  readonly #entries: (Entry<T> | undefined)[] = [];

  /** Takes a reference to the value of a key, which is made if nobody holds it. */
  hold(key: string, make: () => T): number {
    let id = this.#byKey.get(key);
    if (id === undefined) {
      id = this.#ids.take();
      this.#byKey.set(key, id);
      this.#entries[id] = { key, value: make(), references: 0 };
    }
    this.keep(id);
    return id;
  }

  /** Takes one more reference. */
  keep(id: number): void {
    const entry = this.#entries[id];
    if (entry !== undefined) {
      entry.references += 1;
    }
  }

  get(id: number): T | undefined {
    return this.#entries[id]?.value;
  }

  /** Lets go of one reference; what nobody holds is forgotten. */
  release(id: number): void {
    const entry = this.#entries[id];
    if (entry === undefined) {
      return;
    }
    entry.references -= 1;
    if (entry.references === 0) {
      this.#byKey.delete(entry.key);
      this.#entries[id] = undefined;
      this.#ids.give(id);
    }
  }
}
