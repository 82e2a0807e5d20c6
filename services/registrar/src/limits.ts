/** Limits of one report, beside those of the product; a report over one of them is refused whole. */
export const REPORT_LIMITS = {
  /** Services that one workload serves. */
  services: 1_000,
  /** Outbound services of one workload. */
  outbounds: 1_000,
  /** Addresses of one workload. */
  addresses: 1_024,
  /** Descriptive attributes, and the bytes of each key and value. */
  attributes: 64,
  attributeBytes: 1_024,
  /** The record as stored: below the bus's message limit with room for headers. */
  recordBytes: 500 * 1_024,
} as const;
