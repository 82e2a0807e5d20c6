/** Limits of the product, checked where something enters. Sizes are in bytes unless named otherwise. */
export const LIMITS = {
  /** Bytes of a label key or value. */
  labelBytes: 63,
  /** Labels of one workload, inventory labels included. */
  labelsPerWorkload: 64,
  /** Rules of one ruleset. */
  rulesPerRuleset: 1_000,
  /** Peers of one resolved rule. */
  peersPerRule: 65_536,
  /** Resolved rules of one policy. */
  rulesPerPolicy: 65_534,
  /** Marshalled size of one rendered policy. */
  policyBytes: 32 * 1024 * 1024,
  /** Peers of one rendered policy over all of its rules. */
  peersPerPolicy: 2_000_000,
  /** Highest port. */
  port: 65_535,
  /** One authored document. */
  documentBytes: 1024 * 1024,
  /** Nesting of one authored document, in maps and lists. */
  documentDepth: 128,
  /** Blobs of one commit. */
  commitBytes: 16 * 1024 * 1024,
  /** Endpoint annotations of one report. */
  annotationsBytes: 256 * 1024,
  /** Files of one tree. */
  treeFiles: 100_000,
  /** One file of a tree. */
  treeFileBytes: 16 * 1024 * 1024,
  /** All files of a tree together. */
  treeBytes: 512 * 1024 * 1024,
  /** Nesting of a JSON file. */
  jsonDepth: 128,
  /** One message on the bus; longer ones are split. */
  messageBytes: 512 * 1024,
} as const;

/** A limit's name. */
export type LimitName = keyof typeof LIMITS;
