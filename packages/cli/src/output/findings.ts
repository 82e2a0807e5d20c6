import type { FindingLine } from "../errors.ts";
import type { Paint } from "./paint.ts";

/** Compares by file, line and path: the order in which people go through their files. */
export function compareFindings(a: FindingLine, b: FindingLine): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  if (a.line !== b.line) return a.line - b.line;
  return a.path === b.path ? 0 : a.path < b.path ? -1 : 1;
}

/** One line per finding: `file:line: error[rule] path: message`. */
export function findingLines(findings: readonly FindingLine[], paint: Paint): string[] {
  return [...findings].sort(compareFindings).map((finding) => {
    const place = finding.line > 0 ? `${finding.file}:${finding.line}` : finding.file;
    const severity = finding.warning
      ? paint.yellow(`warning[${finding.rule}]`)
      : paint.red(`error[${finding.rule}]`);
    const path = finding.path === "" ? "" : ` ${finding.path}:`;
    const where = place === "" ? "" : `${paint.bold(place)}: `;
    return `${where}${severity}${path} ${finding.message}`;
  });
}
