import {
  type Dataplane,
  explainRoute,
  inboundTags,
  type Route,
  type RouteVerdict,
  routeName,
  tagsText,
} from "@ringwall/routes";
import { Command } from "commander";
import { findWorkload, readEstate } from "../live/estate.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

/** `ringwall explain route`. */
export function explainRouteCommand(context: CommandContext): Command {
  return new Command("route")
    .summary("every candidate route of an outbound with its rank")
    .description("Shows every route for one outbound service of a workload, and why it lost.")
    .argument("<dataplane>", "workload that calls")
    .argument("<service>", "service that it calls, <namespace>/<service>")
    .action((dataplane: string, service: string, _options: unknown, command: Command) =>
      withSession(context, command, (session) => explain(session, dataplane, service)),
    );
}

async function explain(session: Session, id: string, service: string): Promise<void> {
  const { out } = session;
  const { paint } = out;
  const estate = await readEstate(await session.operator());
  const caller = findWorkload(estate, id);
  const dataplane: Dataplane = {
    inbounds: caller.workload.rows.map((row) => ({
      tags: inboundTags(row.service, caller.labels, row.metadata),
    })),
    outbounds: caller.outbounds,
  };
  const { selected, verdicts } = explainRoute(dataplane, service, estate.configuration.routes);
  const declared = caller.outbounds.includes(service);
  const document = {
    workload: id,
    service,
    declared,
    selected: selected === undefined ? null : routeJson(selected),
    candidates: verdicts.map(({ route, outcome, rank, reason }) => ({
      route: routeName(route),
      outcome,
      ...(rank === undefined ? {} : { rank }),
      reason,
    })),
  };
  out.result(document, () => {
    const lines = [
      selected === undefined
        ? `${paint.bold(id)} reaches ${service} by the ${paint.bold("implicit")} route: all of ${service}`
        : `${paint.bold(id)} reaches ${service} by ${paint.bold(routeName(selected))}: ${splitText(selected)}`,
    ];
    if (!declared) {
      lines.push(
        paint.yellow(
          `${service} is not among its outbound services, so nothing is rendered for it ` +
            `(${caller.outbounds.join(", ") || "it declares none"})`,
        ),
      );
    }
    if (verdicts.length === 0) return lines;
    return [
      ...lines,
      "",
      ...out.table(
        [
          { title: "ROUTE", cell: (verdict: RouteVerdict) => routeName(verdict.route) },
          { title: "RANK", cell: rankText },
          {
            title: "OUTCOME",
            cell: ({ outcome }) =>
              outcome === "selected" ? paint.green(outcome) : paint.dim(outcome),
          },
          { title: "WHY", cell: ({ reason }) => reason, flexible: true },
        ],
        verdicts,
      ),
    ];
  });
}

function rankText({ rank }: RouteVerdict): string {
  return rank === undefined ? "-" : `${rank.exact} exact + ${rank.wildcard} *`;
}

function splitText(route: Route): string {
  const total = route.split.reduce((sum, { weight }) => sum + weight, 0);
  return route.split
    .map(({ weight, tags }) => `${Math.round((weight * 100) / total)} % ${tagsText(tags)}`)
    .join(", ");
}

function routeJson(route: Route) {
  return { route: routeName(route), split: route.split };
}
