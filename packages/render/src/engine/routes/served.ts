import { rowProblem } from "@ringwall/endpointmeta";
import { normalizeCidr } from "@ringwall/rendered";
import { PortClass } from "@ringwall/wire";
import type { RowSpec } from "../../model.ts";
import type { Serving } from "../workloads/serving.ts";

/** One row as routes may lead to it. */
export interface ServedRow {
  readonly row: RowSpec;
  /** Endpoints as they stand in a rendered split. */
  readonly endpoints: readonly string[];
}

/** What a workload serves. */
export interface Served {
  readonly rows: readonly ServedRow[];
  /** Rows and addresses that were left out. */
  readonly skipped: number;
}

/** Reads what a workload serves: nothing while it is draining, stale or expired. */
export function readServed({ rows, addresses, live }: Serving): Served {
  const served: ServedRow[] = [];
  let skipped = 0;
  for (const row of rows) {
    if (rowProblem(row) !== "") {
      skipped += 1;
    } else if (live && row.weight !== 0) {
      const endpoints: string[] = [];
      for (const text of row.address ? [row.address] : addresses) {
        const address = bareAddress(text);
        if (address === undefined) {
          skipped += 1;
        } else {
          addEndpoints(row, address, endpoints);
        }
      }
      served.push({ row, endpoints });
    }
  }
  return { rows: served, skipped };
}

/** True for an endpoint of an IPv6 address. */
export function isIpv6Endpoint(endpoint: string): boolean {
  return endpoint.includes("[");
}

function addEndpoints(row: RowSpec, address: string, endpoints: string[]): void {
  const host = address.includes(":") ? `[${address}]` : address;
  for (const port of new Set([...(row.port === 0 ? [] : [row.port]), ...row.ports])) {
    if (Number.isInteger(port) && port >= 1 && port <= 65_535) {
      const protocol = row.portClasses[port] === PortClass.UDP ? "udp" : "tcp";
      endpoints.push(`${protocol}/${host}:${port}@${port}`);
    }
  }
}

/** Canonical text of a bare address; undefined if it is none. */
function bareAddress(text: string): string | undefined {
  if (text.includes("/")) {
    return undefined;
  }
  const route = normalizeCidr(text);
  return /\/(32|128)$/.test(route) ? route.slice(0, route.indexOf("/")) : undefined;
}
