const WHITE_SPACE = new Set(
  "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a" +
    "\u2028\u2029\u202f\u205f\u3000",
);

/**
 * Removes Unicode White_Space from both ends. Unlike `String.prototype.trim` it removes U+0085 and
 * keeps U+FEFF.
 */
export function trimWhiteSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE_SPACE.has(text.charAt(start))) start += 1;
  while (end > start && WHITE_SPACE.has(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
