import { create } from "@bufbuild/protobuf";
import {
  checkRow,
  EndpointError,
  isServiceKey,
  readRow,
  strictCheck,
  usableAddresses,
} from "@ringwall/endpointmeta";
import {
  type EndpointRow,
  EndpointRowSchema,
  type ReportWorkloadRequest,
  type RowProblem,
  RowProblemSchema,
  WorkloadSource,
} from "@ringwall/wire";
import type { Scopes } from "./scopes.ts";

/** Outbound services that a workload declares: a comma list of service keys. */
export const UPSTREAMS_ANNOTATION = "config.aether.io/upstreams";

/** Part of a report that was read, with what was found wrong in it. */
export interface Reading<T> {
  readonly values: T[];
  readonly problems: RowProblem[];
}

/** Reads the rows of a report; what is refused is left out and reported. */
export function readRows(
  request: ReportWorkloadRequest,
  namespace: string,
  scopes: Scopes,
): Reading<EndpointRow> {
  const values: EndpointRow[] = [];
  const problems: RowProblem[] = [];
  const elsewhere = servingAddresses(request, namespace, scopes);
  for (const service of [...new Set(request.services)].sort()) {
    try {
      const row = create(EndpointRowSchema, readRow(service, request.annotations));
      checkRow(row);
      if (mayServe(request.source, namespace, service, scopes)) {
        values.push(...elsewhere.map((address) => create(EndpointRowSchema, { ...row, address })));
      } else {
        problems.push(notAllowed(service, namespace, scopes));
      }
    } catch (error) {
      if (!(error instanceof EndpointError)) {
        throw error;
      }
      problems.push(refusedRow(service, error));
    }
  }
  return { values, problems };
}

/** Addresses of the rows: the empty one stands for every address of the workload. */
function servingAddresses(
  request: ReportWorkloadRequest,
  namespace: string,
  scopes: Scopes,
): readonly string[] {
  return request.serviceAddresses.length === 0
    ? [""]
    : usableAddresses(request.serviceAddresses).filter((address) =>
        scopes.allowsAddress(namespace, address),
      );
}

/** Every problem of the strict check of a report's annotations. */
export function strictProblems(request: ReportWorkloadRequest): RowProblem[] {
  return strictCheck(request.annotations).map((problem) =>
    create(RowProblemSchema, { ...problem, refused: request.strict }),
  );
}

/** Reads the declared outbound services of a report, in byte order. */
export function readOutbounds(request: ReportWorkloadRequest): Reading<string> {
  const listed = (request.annotations[UPSTREAMS_ANNOTATION] ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const all = [...new Set([...request.outbounds, ...listed])].sort();
  const problems = all
    .filter((outbound) => !isServiceKey(outbound))
    .map((value) =>
      create(RowProblemSchema, {
        code: "outbound",
        annotation: listed.includes(value) ? UPSTREAMS_ANNOTATION : "",
        value,
        message: `outbound ${JSON.stringify(value)} is no service key; write <namespace>/<service>`,
        refused: true,
      }),
    );
  return { values: all.filter((outbound) => isServiceKey(outbound)), problems };
}

/**
 * An agent serves what its enrolment scope allows, and nothing where no namespace is known. Other
 * sources are the operator's own word: they are bound only by a namespace that they name.
 */
function mayServe(
  source: WorkloadSource,
  namespace: string,
  service: string,
  scopes: Scopes,
): boolean {
  if (namespace === "") {
    return source !== WorkloadSource.AGENT;
  }
  return scopes.allowsService(namespace, service);
}

function notAllowed(service: string, namespace: string, scopes: Scopes): RowProblem {
  const message =
    namespace === ""
      ? `${service} may not be served: the workload has no namespace; admit or enrol it with one`
      : `${service} may not be served from namespace ${namespace}; allowed: ${scopes.describeServices(namespace)}`;
  return create(RowProblemSchema, { code: "service_not_allowed", service, message, refused: true });
}

function refusedRow(service: string, error: EndpointError): RowProblem {
  return create(RowProblemSchema, {
    code: error.code,
    service,
    annotation: error.subject.includes(".") ? error.subject : "",
    value: error.value,
    message: error.message,
    refused: true,
  });
}
