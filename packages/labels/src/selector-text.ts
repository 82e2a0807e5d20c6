import { compareBytes } from "./byte-order.ts";
import { LabelsError } from "./errors.ts";
import { isLabelKey, isLabelValue } from "./grammar.ts";
import type { SelectorSpec } from "./selector.ts";

// White space is Unicode White_Space: U+0085 separates, U+FEFF does not.
const TOKEN = /[=|,]|[^=|,\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;

/**
 * Reads the text form `app=web|api env=prod`: terms separated by white space or commas, each a
 * key, `=` and one or more values separated by `|`; white space around `=` and `|` is ignored.
 * Blank text is the empty selector, which matches nothing.
 *
 * Throws LabelsError `selector-syntax` for anything else: a term without `=` or without values, a
 * key or value outside the label grammar, or a key that is named twice.
 */
export function parseSelector(text: string): SelectorSpec {
  const tokens = (text.match(TOKEN) ?? []).values();
  const terms = new Map<string, string[]>();
  let token = next(tokens);
  while (token !== undefined) {
    if (token === ",") {
      token = next(tokens);
      continue;
    }
    const key = token;
    if (!isLabelKey(key)) throw syntax(`${quote(key)} is no label key`);
    if (terms.has(key)) {
      throw syntax(`key ${key} is named twice; write ${key}=a|b for alternatives`);
    }
    if (next(tokens) !== "=") throw syntax(`key ${key} must be followed by = and a value`);
    const values: string[] = [];
    do {
      values.push(readValue(key, next(tokens)));
      token = next(tokens);
    } while (token === "|");
    terms.set(key, values);
  }
  return Object.fromEntries(terms);
}

/**
 * Text form of a selector: keys in byte order, values in their own order. `parseSelector` reads it
 * back to an equal selector if keys and values are of the label grammar.
 */
export function formatSelector(selector: SelectorSpec): string {
  return Object.entries(selector)
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([key, values]) => `${key}=${values.join("|")}`)
    .join(" ");
}

function next(tokens: Iterator<string>): string | undefined {
  const step = tokens.next();
  return step.done === true ? undefined : step.value;
}

function readValue(key: string, token: string | undefined): string {
  if (token === undefined) throw syntax(`key ${key} has no value`);
  if (!isLabelValue(token)) throw syntax(`${quote(token)} is no value for key ${key}`);
  return token;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function syntax(what: string): LabelsError {
  return new LabelsError("selector-syntax", `selector: ${what}; the form is app=web|api env=prod`);
}
