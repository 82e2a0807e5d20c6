import { create } from "@bufbuild/protobuf";
import {
  type AdmitWorkloadRequest,
  Presence,
  type PresenceMark,
  type ReportWorkloadRequest,
  type RowProblem,
  type WorkloadRecord,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import {
  boundTo,
  judgeReport,
  presenceOf,
  type Refusal,
  type ReportContext,
  refused,
  sameRecord,
  sized,
  sortedMap,
} from "./report.ts";
import { idFaults, labelFaults, namespaceFaults } from "./report-check.ts";

/** What a request wants to do to one workload. */
export type Operation =
  | { readonly kind: "report"; readonly request: ReportWorkloadRequest }
  | { readonly kind: "admit"; readonly request: AdmitWorkloadRequest }
  | { readonly kind: "deregister" }
  | { readonly kind: "enforced"; readonly enforced: boolean }
  | { readonly kind: "presence"; readonly mark: PresenceMark };

/** A workload as its partition's writer sees it. */
export interface Current {
  readonly record: WorkloadRecord | undefined;
  /** Revision of the record; 0 if there is none. */
  readonly sequence: number;
}

/** What an operation makes of a workload. */
export type Result =
  | {
      readonly kind: "next";
      /** The next record; undefined removes the workload. */
      readonly record: WorkloadRecord | undefined;
      readonly changed: boolean;
      readonly problems: readonly RowProblem[];
    }
  | Refusal;

/** Applies one operation to a workload; nothing is written here. */
export function operate(current: Current, operation: Operation, context: ReportContext): Result {
  switch (operation.kind) {
    case "report": {
      const judgement = judgeReport(operation.request, current.record, context);
      return judgement.kind === "refused"
        ? judgement
        : next(current, judgement.record, judgement.problems);
    }
    case "admit":
      return admit(operation.request, current, context);
    case "deregister":
      return next(current, undefined);
    case "enforced":
      return amend(current, context, (record) => ({ ...record, enforced: operation.enforced }));
    case "presence":
      return operation.mark.revision === BigInt(current.sequence)
        ? amend(current, context, (record) => marked(record, operation.mark.presence))
        : next(current, current.record);
    default:
      return operation satisfies never;
  }
}

function admit(request: AdmitWorkloadRequest, current: Current, context: ReportContext): Result {
  const faults = [
    ...idFaults(request.id),
    ...namespaceFaults(request.namespace),
    ...labelFaults(request.labels),
  ];
  if (faults.length > 0) {
    return refused("invalid", faults.join("; "));
  }
  const existing = current.record;
  if (existing?.source === WorkloadSource.KUBERNETES) {
    const why = "its labels come from Kubernetes; change them there";
    return refused("conflict", `workload ${request.id} can't be admitted: ${why}`);
  }
  const namespace = request.namespace === "" ? (existing?.namespace ?? "") : request.namespace;
  const labels = sortedMap(request.labels);
  const timeUnixMs = BigInt(context.wallMs);
  const record =
    existing === undefined
      ? create(WorkloadRecordSchema, {
          id: request.id,
          source: WorkloadSource.OPERATOR,
          labels,
          presence: Presence.LIVE,
          enforced: context.wasEnforced,
          timeUnixMs,
          namespace,
        })
      : { ...existing, labels, timeUnixMs, ...boundTo(namespace, existing, context.scopes) };
  const judgement = sized(record, []);
  return judgement.kind === "refused" ? judgement : next(current, judgement.record);
}

function marked(record: WorkloadRecord, lease: Presence): WorkloadRecord {
  return { ...record, presence: presenceOf(lease, record.draining), leased: true };
}

function amend(
  current: Current,
  context: ReportContext,
  change: (record: WorkloadRecord) => WorkloadRecord,
): Result {
  return current.record === undefined
    ? next(current, undefined)
    : next(current, { ...change(current.record), timeUnixMs: BigInt(context.wallMs) });
}

function next(
  current: Current,
  record: WorkloadRecord | undefined,
  problems: readonly RowProblem[] = [],
): Result {
  const before = current.record;
  const same =
    before === undefined || record === undefined ? before === record : sameRecord(before, record);
  return { kind: "next", record: same ? before : record, changed: !same, problems };
}
