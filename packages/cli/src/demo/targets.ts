import { readRow } from "@ringwall/endpointmeta";
import type { WorkloadSpec } from "@ringwall/render";
import type { EstateWorkload } from "../estate/read-estate.ts";
import type { Target } from "../lab/matrix.ts";
import type { PeerPort } from "../lab/peer-messages.ts";

const SSH = 22;
const UDP_CLASS = 3;

/** Ports that a demonstration's server answers on: those of the workload's services, and SSH. */
export function servedPorts({ services, annotations }: EstateWorkload): readonly PeerPort[] {
  return portsOf(services.map((service) => readRow(service, annotations)));
}

/** What is tried at a workload: the same ports, and ping. */
export function triedTargets({ rows }: WorkloadSpec): readonly Target[] {
  return [...portsOf(rows), { protocol: "icmp", port: 0 }];
}

function portsOf(rows: readonly Pick<WorkloadSpec["rows"][number], "ports" | "portClasses">[]) {
  const found = new Map<string, PeerPort>([[`tcp/${SSH}`, { protocol: "tcp", port: SSH }]]);
  for (const { ports, portClasses } of rows) {
    for (const port of ports) {
      const protocol = portClasses[port] === UDP_CLASS ? "udp" : "tcp";
      found.set(`${protocol}/${port}`, { protocol, port });
    }
  }
  return [...found.values()];
}
