/**
 * Sort keys of texts: two numbers whose order is the byte order of the texts. Each takes eleven
 * characters of an alphabet of 23, in which everything that addresses are written with has a symbol of
 * its own. Other characters share one, so a key ends at the first of them and the text decides.
 */
export interface TextKeys {
  high: number;
  low: number;
  /** True if no other text has the same keys. */
  exact: boolean;
}

const RADIX = 23;
const SYMBOLS_PER_KEY = 11;
/** Longest text that its keys hold whole. */
export const KEYED_LENGTH = 2 * SYMBOLS_PER_KEY;

/** 0 stands for the end of the text. */
const BELOW = 1;
const BETWEEN = 15;
const ABOVE = 22;

/** Symbol of each UTF-16 unit below 128; in the order of the units. */
const SYMBOLS = Uint8Array.from({ length: 128 }, (_, unit) => symbolOf(unit));

function symbolOf(unit: number): number {
  const dot = ".".charCodeAt(0);
  const colon = ":".charCodeAt(0);
  const a = "a".charCodeAt(0);
  const f = "f".charCodeAt(0);
  if (unit < dot) {
    return BELOW;
  }
  if (unit <= colon) {
    return unit - dot + 2;
  }
  if (unit < a) {
    return BETWEEN;
  }
  return unit <= f ? unit - a + 16 : ABOVE;
}

/** Writes the keys of a text into `keys`. */
export function readKeys(text: string, keys: TextKeys): void {
  let high = 0;
  let low = 0;
  let exact = text.length <= KEYED_LENGTH;
  let ended = false;
  for (let index = 0; index < KEYED_LENGTH; index++) {
    let symbol = 0;
    if (!ended && index < text.length) {
      symbol = SYMBOLS[text.charCodeAt(index)] ?? ABOVE;
      if (symbol === BELOW || symbol === BETWEEN || symbol === ABOVE) {
        ended = true;
        exact = false;
      }
    }
    if (index < SYMBOLS_PER_KEY) {
      high = high * RADIX + symbol;
    } else {
      low = low * RADIX + symbol;
    }
  }
  keys.high = high;
  keys.low = low;
  keys.exact = exact;
}
