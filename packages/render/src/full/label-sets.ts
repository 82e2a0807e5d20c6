import { compareBytes } from "@ringwall/labels";

/** A set of labels that any number of workloads share. Equal sets are one object. */
export interface LabelSet {
  /** Position among the interned sets. */
  readonly index: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Each label as `pairText` writes it. */
  readonly pairs: readonly string[];
}

/** One label as one text. NUL is in no label, not even in a stored one outside the grammar. */
export function pairText(key: string, value: string): string {
  return `${key}\0${value}`;
}

/** Interns label sets, so that selectors are evaluated once per set and not once per workload. */
export class LabelSets {
  readonly #byText = new Map<string, LabelSet>();
  readonly sets: LabelSet[] = [];

  intern(labels: Readonly<Record<string, string>>): LabelSet {
    const pairs = Object.entries(labels)
      .map(([key, value]) => pairText(key, value))
      .sort(compareBytes);
    const text = pairs.join("\0\0");
    let set = this.#byText.get(text);
    if (set === undefined) {
      set = { index: this.sets.length, labels, pairs };
      this.#byText.set(text, set);
      this.sets.push(set);
    }
    return set;
  }
}
