import type { PortClass, ServiceKeyText } from "@ringwall/wire";
import { type Annotations, metadata, port, ports, weight } from "./annotations.ts";
import { EndpointError } from "./errors.ts";
import { isKnownClass } from "./port-class.ts";
import { portProtocols } from "./port-protocols.ts";
import { checkServiceKey } from "./service-key.ts";

/** The ports of a row as stored or about to be; absent members read as unset. */
export interface RowPorts {
  /** Primary port; 0 = unset. */
  readonly port?: number;
  readonly ports?: readonly number[];
  /** Class number of each port. */
  readonly portClasses?: Readonly<Record<number, number>>;
}

/** Why a row must not be used; empty if it may. */
export type RowProblemCode = "" | "no_port_protocols" | "port_not_typed" | "port_not_listed";

/**
 * Why readers must not use a row, the first of:
 * - `no_port_protocols`: the class map is empty, or there is no row;
 * - `port_not_typed`: a listed port (the primary or one of ports) is missing in the map, or its
 *   class is UNSPECIFIED or one that this build does not know;
 * - `port_not_listed`: the map names a port that is neither the primary nor one of ports.
 *
 * A primary of 0 is unset. Reserved numbers and repeats are no problem. Empty if there is none.
 */
export function rowProblem(row: RowPorts | undefined): RowProblemCode {
  return findProblem(row).code;
}

/**
 * `rowProblem` for write paths.
 *
 * Throws EndpointError with the problem as its code and the port as its value.
 */
export function checkRow(row: RowPorts | undefined): void {
  const { code, port: number } = findProblem(row);
  if (code === "") return;
  throw new EndpointError(code, "row", number === undefined ? "" : String(number), hintOf(code));
}

interface Found {
  readonly code: RowProblemCode;
  readonly port?: number;
}

function findProblem(row: RowPorts | undefined): Found {
  const classes = row?.portClasses ?? {};
  const typed = Object.keys(classes).map(Number);
  if (typed.length === 0) return { code: "no_port_protocols" };
  const listed = new Set(row?.ports ?? []);
  if (row?.port !== undefined && row.port !== 0) listed.add(row.port);
  for (const each of listed) {
    if (!isKnownClass(classes[each])) return { code: "port_not_typed", port: each };
  }
  for (const each of typed) {
    if (!listed.has(each)) return { code: "port_not_listed", port: each };
  }
  return { code: "" };
}

function hintOf(code: Exclude<RowProblemCode, "">): string {
  switch (code) {
    case "no_port_protocols":
      return "give each port a class";
    case "port_not_typed":
      return "give the port one of the classes HTTP, TCP, UDP";
    case "port_not_listed":
      return "list the port or take its class away";
  }
}

/** What annotations say about one service: a registry row without its address. */
export interface RowFields {
  service: ServiceKeyText;
  /** Primary port. */
  port: number;
  /** Every port, the primary included, ascending. */
  ports: number[];
  /** Class of each port. */
  portClasses: Record<number, PortClass>;
  weight: number;
  metadata: Record<string, string>;
}

/**
 * Reads the row that a workload serves under a service key from its annotations; the one reading
 * for every source of endpoints. The key is checked strictly. What it returns never has a
 * `rowProblem`.
 *
 * Throws EndpointError, the first of: `service-key`, `protocol`, `port`, `ports-entry` or
 * `port-protocol-suffix`, `weight`.
 */
export function readRow(service: string, annotations: Annotations): RowFields {
  const key = checkServiceKey(service);
  const portClasses = portProtocols(annotations);
  const primary = port(annotations);
  return {
    service: key,
    port: primary,
    ports: ports(annotations, primary),
    portClasses,
    weight: weight(annotations),
    metadata: metadata(annotations),
  };
}
