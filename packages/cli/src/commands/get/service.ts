import {
  type ClassVotes,
  GetServiceRequestSchema,
  GetServiceResponseSchema,
  PortClass,
  type ServicePort,
  type ServiceView,
} from "@ringwall/wire";
import { Command } from "commander";
import { CliError } from "../../errors.ts";
import { accepted } from "../../live/operator.ts";
import { presenceName } from "../../live/registry.ts";
import { enumName } from "../../output/enum-name.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";

/** `ringwall get service`. */
export function getServiceCommand(context: CommandContext): Command {
  return new Command("service")
    .summary("one service as its callers see it")
    .description(
      "Shows the class of each port with the votes of its endpoints, the endpoints with weight and " +
        "health, and who declares it as an outbound.",
    )
    .argument("<key>", "service key, <namespace>/<service>")
    .action((key: string, _options: unknown, command: Command) =>
      withSession(context, command, (session) => getService(session, key)),
    );
}

async function getService(session: Session, key: string): Promise<void> {
  const operator = await session.operator();
  const { revision, service } = accepted(
    "service.get",
    await operator.call("service.get", GetServiceRequestSchema, GetServiceResponseSchema, {
      service: key,
    }),
  );
  if (service === undefined) throw new CliError("refused", `${key}: no answer`);
  session.out.result({ revision, ...document(service) }, () => human(session, service));
}

function document(service: ServiceView) {
  return {
    service: service.service,
    ports: service.ports.map((port) => ({
      port: port.port,
      elected: className(port.elected),
      votes: port.votes.map((vote) => ({
        class: className(vote.portClass),
        votes: vote.votes,
        workloads: vote.workloads,
      })),
    })),
    endpoints: service.endpoints.map((endpoint) => ({
      workload: endpoint.workload,
      addresses: endpoint.addresses,
      port: endpoint.port,
      ports: endpoint.ports,
      weight: endpoint.weight,
      presence: presenceName(endpoint.presence),
      metadata: endpoint.metadata,
    })),
    callers: service.callers,
    refused: service.refused.map(({ workload, reason }) => ({ workload, reason })),
  };
}

function human({ out }: Session, service: ServiceView): string[] {
  return [
    ...service.ports.flatMap((port) => portLines(port, out.paint.yellow)),
    ...out.table(
      [
        { title: "WORKLOAD", cell: (row: ServiceView["endpoints"][number]) => row.workload },
        { title: "ADDRESSES", cell: (row) => row.addresses.join(" ") || "-", flexible: true },
        { title: "PORT", cell: (row) => String(row.port), align: "right" },
        { title: "WEIGHT", cell: (row) => String(row.weight), align: "right" },
        { title: "PRESENCE", cell: (row) => presenceName(row.presence) },
      ],
      service.endpoints,
    ),
    ...service.refused.map(({ workload, reason }) =>
      out.paint.red(`not used: row of ${workload}: ${reason}`),
    ),
    out.paint.dim(`callers: ${service.callers.join(" ") || "none"}`),
  ];
}

/** The elected class, and the votes that lost. */
function portLines(port: ServicePort, paint: (text: string) => string): string[] {
  const won = port.votes.find(({ portClass }) => portClass === port.elected)?.votes ?? 0;
  const lost = port.votes.filter(({ portClass }) => portClass !== port.elected);
  return [
    `port ${port.port}  ${className(port.elected)}  ${won} votes`,
    ...lost.map((vote) => paint(`  lost: ${loser(vote)}`)),
  ];
}

function loser({ portClass, votes, workloads }: ClassVotes): string {
  const more = votes > workloads.length ? " …" : "";
  return `${className(portClass)} with ${votes} votes: ${workloads.join(" ")}${more}`;
}

function className(portClass: PortClass): string {
  return enumName(PortClass, portClass).toLowerCase();
}
