/** A number with its word: "1 workload", "2 workloads". */
export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
