import type { FindingRule } from "../finding.ts";

/** Takes one finding of admission. */
export type Note = (path: string, rule: FindingRule, message: string) => void;

/** Joins a prefix, which may be empty, and a path below it. */
export function below(prefix: string, path: string): string {
  return prefix === "" ? path : `${prefix}.${path}`;
}
