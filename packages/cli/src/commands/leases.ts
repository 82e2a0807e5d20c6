import {
  GetLeasesRequestSchema,
  GetLeasesResponseSchema,
  LiftFreezeRequestSchema,
  LiftFreezeResponseSchema,
} from "@ringwall/wire";
import { Command } from "commander";
import { accepted } from "../live/operator.ts";
import { presenceName } from "../live/registry.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

/** `ringwall leases show|lift`. */
export function leasesCommand(context: CommandContext): Command {
  const leases = new Command("leases").description(
    "Heartbeats of workloads, and what is held back because too many fell silent at once.",
  );
  leases
    .command("show")
    .summary("how leases stand")
    .description("Counts workloads by lease, and shows which expiries are frozen.")
    .action((_options: unknown, command: Command) => withSession(context, command, show));
  leases
    .command("lift")
    .summary("let the silent workloads expire")
    .description(
      "Says that the workloads which are held back are gone: they expire now and are no longer " +
        "peers. One that is heard again is back at once.",
    )
    .requiredOption("--reason <text>", "why; kept in the registrar's log")
    .action((options: { reason: string }, command: Command) =>
      withSession(context, command, (session) => lift(session, options.reason)),
    );
  return leases;
}

async function show(session: Session): Promise<void> {
  const operator = await session.operator();
  const answer = accepted(
    "lease.get",
    await operator.call("lease.get", GetLeasesRequestSchema, GetLeasesResponseSchema, {}),
  );
  const { leased, stale, expired } = answer;
  const frozen = answer.frozen.map((freeze) => ({
    stage: presenceName(freeze.stage),
    since: new Date(Number(freeze.sinceUnixMs)).toISOString(),
    held: freeze.held,
    workloads: freeze.workloads,
  }));
  const { out } = session;
  out.result({ leased, stale, expired, frozen }, () => [
    `${leased} workloads send heartbeats, ${stale} are stale, ${expired} have expired`,
    ...frozen.flatMap(({ stage, since, held, workloads }) => [
      out.paint.red(`${held} would be ${stage}, held back since ${since}:`),
      `  ${workloads.join(" ")}${held > workloads.length ? " …" : ""}`,
    ]),
  ]);
}

async function lift(session: Session, reason: string): Promise<void> {
  const operator = await session.operator();
  const { lifted } = accepted(
    "lease.lift",
    await operator.call("lease.lift", LiftFreezeRequestSchema, LiftFreezeResponseSchema, {
      reason,
    }),
  );
  session.out.result({ lifted }, () => [`${lifted} workloads expire`]);
}
