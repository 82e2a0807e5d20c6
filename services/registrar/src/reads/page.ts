/** Bytes of the entries of one answer: below the bus's message limit with room for the rest. */
export const PAGE_BYTES = 480 * 1024;

/** Entries of a page if the request names no number. */
export const PAGE_DEFAULT = 500;

/** Most entries of a page. */
export const PAGE_MAX = 5_000;

/** Number of entries that a request asks for. */
export function pageLimit(limit: number): number {
  return limit === 0 ? PAGE_DEFAULT : Math.min(limit, PAGE_MAX);
}
