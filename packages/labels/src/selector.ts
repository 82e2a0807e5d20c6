/** Label selector: every key must have one of its values. Empty matches nothing. */
export type SelectorSpec = Readonly<Record<string, readonly string[]>>;

/**
 * True if the labels satisfy the selector: AND over keys, OR over the values of a key, values
 * compared byte for byte without wildcards. An absent or empty selector matches nothing, and so
 * does one with a key that lists no values: absence is never read as permission.
 */
export function matches(
  selector: SelectorSpec | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (selector === undefined) return false;
  let keys = 0;
  for (const [key, values] of Object.entries(selector)) {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined || !values.includes(value)) return false;
    keys += 1;
  }
  return keys > 0;
}
