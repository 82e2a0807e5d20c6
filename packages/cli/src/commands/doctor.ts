import { Command } from "commander";
import { busChecks } from "../doctor/bus-checks.ts";
import { type Check, fail, type Verdict } from "../doctor/check.ts";
import { hostChecks } from "../doctor/host-checks.ts";
import { planeChecks } from "../doctor/plane-checks.ts";
import { CliError, EXIT_CODES, ExitStatus } from "../errors.ts";
import { connectOperator } from "../live/bus-operator.ts";
import { harmless, type Paint } from "../output/paint.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { commandVersion } from "./version.ts";

/** `ringwall doctor`. */
export function doctorCommand(context: CommandContext): Command {
  return new Command("doctor")
    .summary("check host, bus and control plane, and say what to do")
    .description(
      "Checks this host (Node, kernel, nft, permissions), the bus (version, limits, clock, durability, " +
        "streams) and the control plane (services, versions, configuration, agents).\nEnds with code " +
        "6 if something does not work. RINGWALL_NATS_MONITOR_URL names the server's monitoring port.",
    )
    .option("--host", "only check this host")
    .action((options: { host?: boolean }, command: Command) =>
      withSession(context, command, (session) => doctor(session, options.host === true)),
    );
}

async function doctor(session: Session, hostOnly: boolean): Promise<void> {
  const { out } = session;
  const checks = [...(await hostChecks(session.context.environment))];
  if (!hostOnly) checks.push(...(await remoteChecks(session)));
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length;
  const counts = { ok: count("ok"), warn: count("warn"), fail: count("fail") };
  out.result({ counts, checks }, () => [
    ...checks.flatMap((check) => lines(check, out.paint)),
    "",
    `${counts.ok} fine, ${counts.warn} to look at, ${counts.fail} not working`,
  ]);
  if (counts.fail > 0) throw new ExitStatus(EXIT_CODES.refused);
}

async function remoteChecks({ globals, out, interrupted, context }: Session): Promise<Check[]> {
  try {
    // Whoever asks for a diagnosis does not want to wait until there is nothing to diagnose.
    await using operator = await connectOperator({ ...globals, retry: false }, out, interrupted);
    return [
      ...(await busChecks(operator.bus, context.environment.RINGWALL_NATS_MONITOR_URL)),
      ...(await planeChecks(operator, commandVersion())),
    ];
  } catch (error) {
    if (!(error instanceof CliError) || error.code === "usage") throw error;
    return [fail("NATS", error.message, error.details.hint ?? "start NATS")];
  }
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: "✓", warn: "!", fail: "✗" };
const SUBJECT_WIDTH = 18;

function lines({ subject, verdict, found, todo }: Check, paint: Paint): string[] {
  const colour = { ok: paint.green, warn: paint.yellow, fail: paint.red }[verdict];
  const line = `${colour(MARKS[verdict])} ${subject.padEnd(SUBJECT_WIDTH)} ${harmless(found)}`;
  return todo === "" ? [line] : [line, `  ${"".padEnd(SUBJECT_WIDTH)} ${paint.dim("→")} ${todo}`];
}
