/** Name of a value of a generated enum; the number for one that this build does not know. */
export function enumName(names: Readonly<Record<string, number>>, value: number): string {
  const found = Object.entries(names).find(([, known]) => known === value);
  return found?.[0] ?? String(value);
}
