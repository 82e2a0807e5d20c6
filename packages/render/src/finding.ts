import { compareBytes } from "@ringwall/labels";

/** What a finding is about: stable names, never reworded. */
export type FindingRule =
  // Reading a document.
  | "yaml"
  | "document-size"
  | "document-depth"
  | "document-count"
  | "kind"
  | "key-unknown"
  | "key-duplicate"
  | "key-required"
  | "type"
  | "selector-syntax"
  // A tree.
  | "path"
  | "path-kind"
  // Admission.
  | "direction-outbound"
  | "direction-required"
  | "direction"
  | "selector-empty"
  | "label-key"
  | "label-value"
  | "label-key-required"
  | "label-values-required"
  | "label-key-duplicate"
  | "port-range"
  | "port-spec"
  | "ports-on-portless-protocol"
  | "protocol"
  | "cidr"
  | "service-unknown"
  | "address-group-unknown"
  | "peer-shape"
  | "peers-required"
  | "services-required"
  | "entries-required"
  | "cidrs-required"
  | "name-required"
  | "name"
  | "duplicate-name"
  | "id"
  | "rule-id-duplicate"
  | "in-use"
  | "limit"
  // Traffic routes.
  | "need-one"
  | "need-tag"
  | "no-service"
  | "only-service"
  | "tag-forbidden"
  | "empty"
  | "weight-zero"
  | "weight"
  // Inventory.
  | "inventory-shape"
  | "workload-id"
  | "workload-duplicate"
  | "mode"
  | "service-key"
  // Alert sinks.
  | "url"
  | "events"
  // Needs the registry.
  | "selector-unmatched";

/** One fault of an authored document or configuration. */
export interface Finding {
  /** File it was found in; absent when it is not in one. */
  readonly file?: string;
  /** Line in that file, from 1; absent when unknown. */
  readonly line?: number;
  /** Where in the document, for example `rules[0].peers[1].cidr`. */
  readonly path: string;
  readonly rule: FindingRule;
  /** What is wrong and what to do. */
  readonly message: string;
  /** True if it refuses nothing. */
  readonly warning?: true;
}

/** Sorts findings by file, path and rule; the input is left alone. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return [...findings].sort(
    (a, b) =>
      compareBytes(a.file ?? "", b.file ?? "") ||
      compareBytes(a.path, b.path) ||
      compareBytes(a.rule, b.rule),
  );
}

/** True if one of the findings refuses. */
export function refuses(findings: readonly Finding[]): boolean {
  return findings.some((finding) => finding.warning !== true);
}
