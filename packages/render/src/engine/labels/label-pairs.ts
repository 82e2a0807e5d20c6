import { LIMITS } from "../../limits.ts";
import { Column } from "../store/column.ts";
import { Ids } from "../store/ids.ts";
import { TextIds } from "../store/text-ids.ts";

/** Interns labels: each key with one of its values is a small integer. */
export class LabelPairs {
  readonly #ids = new Ids();
  readonly #references = new Column();
  readonly #keys: string[] = [];
  readonly #values: string[] = [];
  readonly #byKey = new Map<string, TextIds>();

  key(pair: number): string {
    return this.#keys[pair] ?? "";
  }

  value(pair: number): string {
    return this.#values[pair] ?? "";
  }

  /** The pair's id. Whoever asks for it must see to it that a set or a selector has it. */
  intern(key: string, value: string): number {
    let byValue = this.#byKey.get(key);
    if (byValue === undefined) {
      byValue = new TextIds({
        textOf: (pair) => this.#values[pair],
        hashed: LIMITS.labelBytes,
      });
      this.#byKey.set(key, byValue);
    }
    let pair = byValue.find(value);
    if (pair < 0) {
      pair = this.#ids.take();
      this.#keys[pair] = key;
      this.#values[pair] = value;
      this.#references.put(pair, 0);
      byValue.add(value, pair);
    }
    return pair;
  }

  /** Counts a selector that names a pair. */
  hold(pair: number): void {
    this.#references.add(pair, 1);
  }

  /** Takes a selector back; true if none names the pair any more. */
  release(pair: number): boolean {
    return this.#references.add(pair, -1) === 0;
  }

  /** True if a selector names the pair. */
  isNamed(pair: number): boolean {
    return this.#references.at(pair) > 0;
  }

  /** Forgets a pair that no set has and no selector names. */
  forget(pair: number): void {
    const key = this.key(pair);
    const byValue = this.#byKey.get(key);
    byValue?.remove(this.value(pair), pair);
    if (byValue?.size === 0) {
      this.#byKey.delete(key);
    }
    this.#ids.give(pair);
  }
}
