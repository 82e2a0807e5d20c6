import { create, equals, toBinary } from "@bufbuild/protobuf";
import {
  Presence,
  type ReportWorkloadRequest,
  type RowProblem,
  RowProblemSchema,
  type WorkloadRecord,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { REPORT_LIMITS } from "./limits.ts";
import { readAddresses } from "./report-addresses.ts";
import { reportFaults } from "./report-check.ts";
import { readOutbounds, readRows, strictProblems } from "./report-rows.ts";
import type { Scopes } from "./scopes.ts";

/** What becomes of a request that wants to write a workload. */
export type Judgement =
  | {
      readonly kind: "record";
      readonly record: WorkloadRecord;
      readonly problems: readonly RowProblem[];
    }
  | Refusal;

/** A request that stores nothing. */
export interface Refusal {
  readonly kind: "refused";
  readonly code: RefusalCode;
  readonly message: string;
  readonly problems: readonly RowProblem[];
}

/** Why a request stores nothing: codes of ApiError. */
export type RefusalCode =
  | "invalid"
  | "not_found"
  | "refused"
  | "too_large"
  | "conflict"
  | "unavailable";

/** What a report is judged with. */
export interface ReportContext {
  readonly scopes: Scopes;
  readonly wallMs: number;
  /** True if this id was removed while it had an enforced body. */
  readonly wasEnforced: boolean;
}

/** The presence that leases and the source's word of draining make together. */
export function presenceOf(lease: Presence, draining: boolean): Presence {
  return draining && lease !== Presence.EXPIRED ? Presence.DRAINING : lease;
}

/**
 * The record that a report makes of a workload. A bad row, address or outbound is left out and
 * reported; a report that breaks the grammar or a limit is refused whole. Labels and namespace of
 * an agent's report never replace those of an adapter or operator; addresses and services come from
 * the adapter, else from what is declared, else from the agent. The `enforced` mark is kept.
 */
export function judgeReport(
  request: ReportWorkloadRequest,
  existing: WorkloadRecord | undefined,
  context: ReportContext,
): Judgement {
  const faults = reportFaults(request);
  if (faults.length > 0) {
    return refused("invalid", faults.join("; "));
  }
  if (existing === undefined && request.existingOnly) {
    const how = "an adapter, an enrolment or `ringwall workload admit` creates it";
    return refused("not_found", `workload ${request.id} is not in the registry; ${how}`);
  }
  const strict = strictProblems(request);
  if (request.strict && strict.length > 0) {
    const codes = [...new Set(strict.map((problem) => problem.code))].join(", ");
    return refused("refused", `${strict.length} problems in annotations: ${codes}`, strict);
  }
  if (existing?.source === WorkloadSource.KUBERNETES && request.source !== existing.source) {
    return { kind: "record", record: existing, problems: [ownedBy("Kubernetes", request)] };
  }
  const { record, problems } = make(request, existing, context);
  return sized(record, inOrder([...problems, ...strict]));
}

/** True if two records differ in nothing but the time of their write. */
export function sameRecord(a: WorkloadRecord, b: WorkloadRecord): boolean {
  return equals(WorkloadRecordSchema, { ...a, timeUnixMs: 0n }, { ...b, timeUnixMs: 0n });
}

/** Refuses a record that does not fit one message. */
export function sized(record: WorkloadRecord, problems: readonly RowProblem[]): Judgement {
  const bytes = toBinary(WorkloadRecordSchema, record).length;
  if (bytes > REPORT_LIMITS.recordBytes) {
    const message = `record of ${record.id} has ${bytes} bytes, at most ${REPORT_LIMITS.recordBytes} are allowed; declare fewer services or less metadata`;
    return refused("too_large", message, problems);
  }
  return { kind: "record", record, problems };
}

/** Says that nothing is stored. */
export function refused(
  code: RefusalCode,
  message: string,
  problems: readonly RowProblem[] = [],
): Refusal {
  return { kind: "refused", code, message, problems };
}

interface Made {
  readonly record: WorkloadRecord;
  readonly problems: readonly RowProblem[];
}

/** Who may say what: an adapter everything, a declaration what it declares, an agent the rest. */
function make(
  request: ReportWorkloadRequest,
  existing: WorkloadRecord | undefined,
  context: ReportContext,
): Made {
  const fromAgent = request.source === WorkloadSource.AGENT;
  if (existing !== undefined && fromAgent && isDeclared(existing)) {
    return signOfLife(request, existing, context);
  }
  const declares = request.addresses.length > 0 || request.services.length > 0;
  if (existing?.source === WorkloadSource.AGENT && !fromAgent && !declares) {
    return describeAnew(request, existing, context);
  }
  return takeInventory(request, existing, context);
}

function takeInventory(
  request: ReportWorkloadRequest,
  existing: WorkloadRecord | undefined,
  context: ReportContext,
): Made {
  const fromAgent = request.source === WorkloadSource.AGENT;
  const namespace = request.namespace === "" ? (existing?.namespace ?? "") : request.namespace;
  const rows = readRows(request, namespace, context.scopes);
  const addresses = readAddresses(request.addresses, namespace, context.scopes);
  const outbounds = readOutbounds(request);
  const leased =
    fromAgent || (existing?.leased === true && request.source !== WorkloadSource.KUBERNETES);
  const record = create(WorkloadRecordSchema, {
    id: request.id,
    source: request.source,
    labels: sortedMap(fromAgent ? (existing?.labels ?? {}) : request.labels),
    addresses: addresses.values,
    rows: rows.values,
    outbounds: outbounds.values,
    presence: presenceOf(
      leased && !fromAgent ? leaseOf(existing) : Presence.LIVE,
      request.draining,
    ),
    enforced: existing?.enforced ?? context.wasEnforced,
    attributes: sortedMap(request.attributes),
    timeUnixMs: BigInt(context.wallMs),
    namespace,
    draining: request.draining,
    leased,
  });
  return { record, problems: [...rows.problems, ...addresses.problems, ...outbounds.problems] };
}

/** An agent's report of a workload that is declared: it lives, and whether it is leaving. */
function signOfLife(
  request: ReportWorkloadRequest,
  existing: WorkloadRecord,
  context: ReportContext,
): Made {
  const record = {
    ...existing,
    presence: presenceOf(Presence.LIVE, request.draining),
    draining: request.draining,
    leased: true,
    timeUnixMs: BigInt(context.wallMs),
  };
  const says = request.addresses.length > 0 || request.services.length > 0;
  return { record, problems: says ? [ownedBy("its declaration", request)] : [] };
}

/** New labels, namespace and attributes; what the workload's agent said of itself stays. */
function describeAnew(
  request: ReportWorkloadRequest,
  existing: WorkloadRecord,
  context: ReportContext,
): Made {
  const namespace = request.namespace === "" ? existing.namespace : request.namespace;
  const record = {
    ...existing,
    labels: sortedMap(request.labels),
    attributes: sortedMap(request.attributes),
    timeUnixMs: BigInt(context.wallMs),
    ...boundTo(namespace, existing, context.scopes),
  };
  return { record, problems: [] };
}

/** What stays of a workload's rows and addresses when its namespace becomes another. */
export function boundTo(
  namespace: string,
  existing: WorkloadRecord,
  scopes: Scopes,
): Pick<WorkloadRecord, "namespace" | "rows" | "addresses"> {
  if (namespace === existing.namespace) {
    return { namespace, rows: existing.rows, addresses: existing.addresses };
  }
  return {
    namespace,
    rows: existing.rows.filter((row) => scopes.allowsService(namespace, row.service)),
    addresses: existing.addresses.filter((each) => scopes.allowsAddress(namespace, each)),
  };
}

/** A map whose keys are in byte order, so that equal maps have equal bytes. */
export function sortedMap(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function inOrder(problems: readonly RowProblem[]): RowProblem[] {
  return [...problems.filter((each) => each.refused), ...problems.filter((each) => !each.refused)];
}

/** True if an operator or inventory says where a workload is or what it serves. */
function isDeclared(record: WorkloadRecord): boolean {
  const declared =
    record.source === WorkloadSource.INVENTORY || record.source === WorkloadSource.OPERATOR;
  return declared && (record.addresses.length > 0 || record.rows.length > 0);
}

/** What leases said last of a workload. */
function leaseOf(record: WorkloadRecord | undefined): Presence {
  return record?.presence === Presence.STALE || record?.presence === Presence.EXPIRED
    ? record.presence
    : Presence.LIVE;
}

function ownedBy(owner: string, { id }: ReportWorkloadRequest): RowProblem {
  const message = `addresses and services of ${id} are taken from ${owner} only`;
  return create(RowProblemSchema, { code: "source_owned", message });
}
