import { compareBytes } from "./tree/path.ts";

/** Stable names of what can be wrong with a file of a declared tree. */
export type FindingCode =
  | "bad-path"
  | "collision"
  | "type-not-allowed"
  | "denied-type"
  | "no-rule"
  | "gateway-owned"
  | "dot-name"
  | "unknown-provider"
  | "misplaced-tag-type"
  | "member-named-folder"
  | "excluded-provider"
  | "json-invalid"
  | "marker-files"
  | "shape"
  | "uuid-missing-opaque"
  | "uuid-duplicate"
  | "secret-embedded"
  | "secret-plaintext"
  | "name-illegal"
  | "case-collision"
  | "path-budget"
  | "carriage-return"
  | "key-unknown"
  | "key-duplicate"
  | "value-invalid"
  | "yaml-invalid";

/** One thing that is wrong with one file. It names places and keys, never values. */
export interface Finding {
  /** Path below the gateway's folder, overlay prefix included, or `manifest.yaml`. */
  readonly path: string;
  readonly code: FindingCode;
  /** What is wrong and what to do. */
  readonly message: string;
  /** Line from 1, where a file has lines and one is to blame. */
  readonly line?: number;
  /** Column from 1. */
  readonly column?: number;
}

/** Finding codes that mean a secret's value stands in the file. */
export const SECRET_CODES: ReadonlySet<FindingCode> = new Set([
  "secret-embedded",
  "secret-plaintext",
]);

/** Findings by path and code, each pair once; the first message of a pair stays. */
export class Findings {
  readonly #byPlace = new Map<string, Finding>();

  /** True if nothing was found. */
  get isEmpty(): boolean {
    return this.#byPlace.size === 0;
  }

  /** Notes a finding unless its file has one of the same code. */
  add(path: string, code: FindingCode, message: string): void {
    const place = `${path}\0${code}`;
    if (!this.#byPlace.has(place)) this.#byPlace.set(place, { path, code, message });
  }

  /** All findings, by path in byte order, then by code. */
  sorted(): Finding[] {
    return [...this.#byPlace.values()].sort(
      (a, b) => compareBytes(a.path, b.path) || compareBytes(a.code, b.code),
    );
  }
}
