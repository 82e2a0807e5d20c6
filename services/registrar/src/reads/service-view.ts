import { create } from "@bufbuild/protobuf";
import { electPortClass, KNOWN_CLASSES } from "@ringwall/endpointmeta";
import {
  ClassVotesSchema,
  type EndpointRow,
  type PortClass,
  Presence,
  type ServiceEndpoint,
  ServiceEndpointSchema,
  type ServicePort,
  ServicePortSchema,
  type ServiceSummary,
  ServiceSummarySchema,
  type ServiceView,
  ServiceViewSchema,
} from "@ringwall/wire";
import type { Registry } from "../registry.ts";
import type { StoredWorkload } from "../stored-workload.ts";

/** Most entries of each list of a view. */
const VIEW_MAX = 5_000;

/** Workloads that are named beside a vote. */
const VOTERS_NAMED = 20;

/**
 * A service as callers see it: the class of each port by election with its votes, the endpoints
 * with weight and health, who calls it, and the rows that are not used. Expired workloads are no
 * endpoints and have no vote. Undefined if nobody serves or calls it.
 */
export function serviceView(registry: Registry, service: string): ServiceView | undefined {
  const { indexes } = registry;
  const servers = present(registry, indexes.servers(service));
  const callers = [...indexes.callers(service)].sort();
  const all = [...indexes.servers(service)].sort().flatMap((id) => registry.get(id) ?? []);
  if (all.length === 0 && callers.length === 0) {
    return undefined;
  }
  return create(ServiceViewSchema, {
    service,
    ports: votedPorts(servers, service),
    endpoints: servers.flatMap((stored) => endpoints(stored, service)).slice(0, VIEW_MAX),
    callers: callers.slice(0, VIEW_MAX),
    refused: all
      .flatMap((stored) => stored.refused)
      .filter(({ row }) => row?.service === service)
      .slice(0, VIEW_MAX),
  });
}

/** A service in one line. */
export function serviceSummary(registry: Registry, service: string): ServiceSummary {
  const servers = present(registry, registry.indexes.servers(service)).filter(({ served }) =>
    served.rows.some((row) => row.service === service),
  );
  return create(ServiceSummarySchema, {
    service,
    endpoints: servers.length,
    live: servers.filter(({ record }) => record.presence === Presence.LIVE).length,
  });
}

function present(registry: Registry, ids: ReadonlySet<string>): StoredWorkload[] {
  return [...ids]
    .sort()
    .flatMap((id) => registry.get(id) ?? [])
    .filter(({ record }) => record.presence !== Presence.EXPIRED);
}

function rowsOf({ served }: StoredWorkload, service: string): EndpointRow[] {
  return served.rows.filter((row) => row.service === service);
}

function endpoints(stored: StoredWorkload, service: string): ServiceEndpoint[] {
  const { id, addresses, presence } = stored.record;
  return rowsOf(stored, service).map((row) =>
    create(ServiceEndpointSchema, {
      workload: id,
      addresses: row.address === "" ? addresses : [row.address],
      port: row.port,
      ports: row.ports,
      weight: row.weight,
      presence,
      metadata: row.metadata,
    }),
  );
}

function votedPorts(servers: readonly StoredWorkload[], service: string): ServicePort[] {
  const voters = new Map<number, Map<PortClass, string[]>>();
  for (const stored of servers) {
    for (const row of rowsOf(stored, service)) {
      for (const [port, portClass] of Object.entries(row.portClasses)) {
        const classes = voters.get(Number(port)) ?? new Map<PortClass, string[]>();
        voters.set(Number(port), classes);
        const ids = classes.get(portClass) ?? [];
        ids.push(stored.record.id);
        classes.set(portClass, ids);
      }
    }
  }
  return [...voters]
    .sort(([a], [b]) => a - b)
    .map(([port, classes]) => votedPort(port, classes))
    .slice(0, VIEW_MAX);
}

function votedPort(port: number, classes: ReadonlyMap<PortClass, readonly string[]>): ServicePort {
  const counts = Object.fromEntries([...classes].map(([each, ids]) => [each, ids.length]));
  const rank = (portClass: PortClass) => KNOWN_CLASSES.indexOf(portClass);
  const votes = [...classes]
    .sort(([a, x], [b, y]) => y.length - x.length || rank(a) - rank(b))
    .map(([portClass, ids]) =>
      create(ClassVotesSchema, {
        portClass,
        votes: ids.length,
        workloads: ids.slice(0, VOTERS_NAMED),
      }),
    );
  return create(ServicePortSchema, { port, elected: electPortClass(counts), votes });
}
