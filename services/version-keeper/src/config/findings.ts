import { create, toBinary } from "@bufbuild/protobuf";
import type { Finding as Found } from "@ringwall/render";
import { type Finding, FindingSchema } from "@ringwall/wire";
import { PART_BYTES } from "../log/parts.ts";

/**
 * Findings in the form of the contract. What does not fit a message is left out, and a last finding
 * says how many there are.
 */
export function storedFindings(findings: readonly Found[]): Finding[] {
  const stored: Finding[] = [];
  let bytes = 0;
  for (const finding of findings) {
    const next = create(FindingSchema, {
      file: finding.file ?? "",
      line: finding.line ?? 0,
      path: finding.path,
      rule: finding.rule,
      message: finding.message,
      warning: finding.warning ?? false,
    });
    bytes += toBinary(FindingSchema, next).length + 8;
    if (bytes > PART_BYTES) {
      const message = `${findings.length} findings, the first ${stored.length} are shown`;
      const warning = findings.every((one) => one.warning === true);
      stored.push(create(FindingSchema, { rule: "more-findings", message, warning }));
      break;
    }
    stored.push(next);
  }
  return stored;
}
