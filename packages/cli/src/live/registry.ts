import type { RowSpec, WorkloadSpec } from "@ringwall/render";
import {
  type EndpointRow,
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  Presence,
  type RefusedRow,
  type WorkloadRecord,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { accepted, type Operator } from "./operator.ts";

/** The registry at one revision. */
export interface Registry {
  readonly revision: bigint;
  readonly workloads: readonly WorkloadRecord[];
  readonly refused: readonly RefusedRow[];
}

const PAGES_LIMIT = 10_000;

/** Reads workloads, all or those with the given ids. */
export async function listWorkloads(
  operator: Operator,
  ids: readonly string[] = [],
): Promise<Registry> {
  const workloads: WorkloadRecord[] = [];
  const refused: RefusedRow[] = [];
  let after = "";
  for (let page = 0; page < PAGES_LIMIT; page += 1) {
    const answer = accepted(
      "workload.list",
      await operator.call(
        "workload.list",
        ListWorkloadsRequestSchema,
        ListWorkloadsResponseSchema,
        {
          filter: { ids: [...ids] },
          after,
          includeRefused: true,
        },
      ),
    );
    workloads.push(...answer.workloads);
    refused.push(...answer.refused);
    const last = answer.workloads.at(-1);
    if (!answer.more || last === undefined)
      return { revision: answer.revision, workloads, refused };
    after = last.id;
  }
  throw new CliError("transport", `the registry did not end within ${PAGES_LIMIT} pages`);
}

/** Presence as people name it. */
export function presenceName(presence: Presence): WorkloadSpec["presence"] {
  switch (presence) {
    case Presence.STALE:
      return "stale";
    case Presence.DRAINING:
      return "draining";
    case Presence.EXPIRED:
      return "expired";
    default:
      return "live";
  }
}

function rowSpec(row: EndpointRow): RowSpec {
  return {
    service: row.service,
    ...(row.address === "" ? {} : { address: row.address }),
    port: row.port,
    ports: row.ports,
    portClasses: row.portClasses,
    weight: row.weight,
    metadata: row.metadata,
  };
}

/** A record in the form that rendering and explaining read. */
export function workloadSpec(record: WorkloadRecord): WorkloadSpec {
  return {
    id: record.id,
    labels: record.labels,
    addresses: record.addresses,
    rows: record.rows.map(rowSpec),
    outbounds: record.outbounds,
    presence: presenceName(record.presence),
    enforced: record.enforced,
  };
}
