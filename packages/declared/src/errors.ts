import type { Finding } from "./finding.ts";

/**
 * What can go wrong with declared trees.
 * - `deploy_tree_invalid`: the tree can't be rendered; `findings` holds everything that is wrong
 * - `manifest`, `target`: such a file can't be read; `findings` says where
 * - `json`: a JSON text is none
 * - `ledger`: a ledger can't be read, or is not of this environment
 * - `rounds`: a pull did not come to rest
 * - `transport`: a tree could not be read or written as a whole
 * - `changed`: the live side is not what it was when it was read
 */
export type DeclaredErrorCode =
  | "deploy_tree_invalid"
  | "manifest"
  | "target"
  | "json"
  | "ledger"
  | "rounds"
  | "transport"
  | "changed";

/** The only error of this package. Its text and its findings never hold a value of a file. */
export class DeclaredError extends Error {
  readonly code: DeclaredErrorCode;
  readonly findings: readonly Finding[];

  constructor(code: DeclaredErrorCode, message: string, findings: readonly Finding[] = []) {
    super(message);
    this.name = "DeclaredError";
    this.code = code;
    this.findings = findings;
  }
}
