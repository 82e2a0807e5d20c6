/**
 * Compares two texts by the bytes of their UTF-8 form, the order of every sorted list in the
 * contract. JavaScript's own order is by UTF-16 unit, which differs where surrogate pairs meet
 * U+E000 to U+FFFF. Returns a negative number, 0 or a positive number.
 */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return codePointOrder(left) - codePointOrder(right);
  }
  return a.length - b.length;
}

/** Moves surrogates, which stand for U+10000 and above, behind every other unit. */
function codePointOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
