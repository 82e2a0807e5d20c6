/** Limits of declared trees, checked where a tree or file enters. Sizes are in bytes. */
export const LIMITS = {
  /** Files of one tree. */
  files: 100_000,
  /** One file of a tree. */
  fileBytes: 16 * 1024 * 1024,
  /** All files of a tree together. */
  treeBytes: 512 * 1024 * 1024,
  /** Folders below each other. */
  folderDepth: 128,
  /** Nesting of a JSON file, in objects and arrays. */
  jsonDepth: 128,
  /** A ledger. */
  ledgerBytes: 8 * 1024 * 1024,
  /** A manifest or target. */
  manifestBytes: 1024 * 1024,
  /** Rounds in which a pull drops units. */
  pullRounds: 8,
  /** Longest path that the older Windows calls take, in UTF-16 units. */
  windowsPath: 259,
} as const;
