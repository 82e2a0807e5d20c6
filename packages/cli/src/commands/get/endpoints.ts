import { type EndpointRow, PortClass } from "@ringwall/wire";
import { Command } from "commander";
import { listWorkloads, presenceName } from "../../live/registry.ts";
import { enumName } from "../../output/enum-name.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";

interface EndpointView {
  readonly service: string;
  readonly workload: string;
  readonly addresses: readonly string[];
  readonly port: number;
  readonly ports: Readonly<Record<string, string>>;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly presence: string;
  /** Reason code of a stored row that readers do not use; empty for the others. */
  readonly refused: string;
}

/** `ringwall get endpoints`. */
export function getEndpointsCommand(context: CommandContext): Command {
  return new Command("endpoints")
    .summary("endpoint rows, refused ones with their reason")
    .description("Lists which workload serves which service, with every port and its class.")
    .argument("[services...]", "only these service keys")
    .action((services: string[], _options: unknown, command: Command) =>
      withSession(context, command, (session) => getEndpoints(session, services)),
    );
}

async function getEndpoints(session: Session, services: readonly string[]): Promise<void> {
  const registry = await listWorkloads(await session.operator());
  const used = registry.workloads.flatMap((record) =>
    record.rows.map((row) =>
      endpointView(record.id, row, record.addresses, presenceName(record.presence), ""),
    ),
  );
  const refused = registry.refused.flatMap(({ workload, row, reason }) =>
    row === undefined ? [] : [endpointView(workload, row, [], "-", reason)],
  );
  const rows = [...used, ...refused]
    .filter((row) => services.length === 0 || services.includes(row.service))
    .sort((a, b) => (`${a.service} ${a.workload}` < `${b.service} ${b.workload}` ? -1 : 1));
  const { out } = session;
  out.result({ revision: registry.revision, endpoints: rows }, () => [
    ...out.table(
      [
        { title: "SERVICE", cell: (row: EndpointView) => row.service },
        { title: "WORKLOAD", cell: (row) => row.workload },
        { title: "ADDRESSES", cell: (row) => row.addresses.join(" ") || "-", flexible: true },
        { title: "PORTS", cell: portsText },
        { title: "WEIGHT", cell: (row) => String(row.weight), align: "right" },
        { title: "PRESENCE", cell: (row) => row.presence },
        { title: "REFUSED", cell: (row) => out.paint.red(row.refused) },
      ],
      rows,
    ),
    out.paint.dim(`${rows.length} endpoints`),
  ]);
}

function portsText(row: EndpointView): string {
  return Object.entries(row.ports)
    .map(([port, name]) => `${port}/${name}${Number(port) === row.port ? "*" : ""}`)
    .join(" ");
}

function endpointView(
  workload: string,
  row: EndpointRow,
  addresses: readonly string[],
  presence: string,
  refused: string,
): EndpointView {
  const classOf = (port: number) => {
    const portClass = row.portClasses[port];
    return portClass === undefined || portClass === PortClass.UNSPECIFIED
      ? "untyped"
      : enumName(PortClass, portClass).toLowerCase();
  };
  return {
    service: row.service,
    workload,
    addresses: row.address === "" ? addresses : [row.address],
    port: row.port,
    ports: Object.fromEntries(row.ports.map((port) => [port, classOf(port)])),
    weight: row.weight,
    metadata: row.metadata,
    presence,
    refused,
  };
}
