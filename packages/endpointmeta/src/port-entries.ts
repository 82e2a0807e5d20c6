import { readPort } from "./numbers.ts";
import { trimWhiteSpace } from "./trim.ts";

/** One entry of the ports annotation. */
export interface PortEntry {
  /** The entry, trimmed. */
  readonly text: string;
  /** Text of its number: what stands before the first `=`, trimmed. */
  readonly number: string;
  /** Its number; undefined if it does not parse. */
  readonly port: number | undefined;
  /** What stands after the first `=`, trimmed; empty if it names no class. */
  readonly suffix: string;
}

/** Entries of a comma list in their order; blank ones are skipped. */
export function* portEntries(list: string | undefined): Generator<PortEntry> {
  for (const piece of (list ?? "").split(",")) {
    const text = trimWhiteSpace(piece);
    if (text === "") continue;
    const cut = text.indexOf("=");
    const number = trimWhiteSpace(cut < 0 ? text : text.slice(0, cut));
    const suffix = cut < 0 ? "" : trimWhiteSpace(text.slice(cut + 1));
    yield { text, number, port: readPort(number), suffix };
  }
}
