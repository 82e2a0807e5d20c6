import type { ServiceStatusResponse } from "@ringwall/wire";
import { Command } from "commander";
import { CliError } from "../errors.ts";
import { convergenceOf } from "../live/convergence.ts";
import { shortHex } from "../live/hex.ts";
import { listServices } from "../live/services.ts";
import { listStatus, stateName } from "../live/status.ts";
import { readLiveTree } from "../live/tree.ts";
import { paintState } from "../output/states.ts";
import { timeText } from "../output/time.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

/** `ringwall status`. */
export function statusCommand(context: CommandContext): Command {
  return new Command("status")
    .summary("services, configuration and agents at a glance")
    .description(
      "Shows every service instance, the head of the configuration, whether it has converged, and " +
        "how many agents are in which state.",
    )
    .action((_options: unknown, command: Command) =>
      withSession(context, command, (session) => status(session)),
    );
}

async function status(session: Session): Promise<void> {
  const { out } = session;
  const operator = await session.operator();
  const services = await listServices(operator);
  if (services.length === 0) {
    throw new CliError("transport", "no service of this control plane answers", {
      hint: "start it (`ringwall dev`), or check --nats-url and --prefix",
    });
  }
  const tree = await readLiveTree(operator);
  const sequence = tree.head?.inputs?.configSequence ?? 0n;
  const [statuses, convergence] = await Promise.all([
    listStatus(operator),
    tree.head === undefined ? undefined : convergenceOf(operator, sequence),
  ]);
  const states: Record<string, number> = {};
  for (const { state } of statuses) states[stateName(state)] = (states[stateName(state)] ?? 0) + 1;
  const document = {
    environment: tree.environment,
    services: services.map(serviceJson),
    head:
      tree.head === undefined
        ? null
        : {
            sequence,
            id: shortHex(tree.head.inputs?.commitId ?? new Uint8Array()),
            author: tree.head.author,
            message: tree.head.message,
            time: new Date(Number(tree.head.timeUnixMs)).toISOString(),
            files: tree.files.length,
          },
    convergence:
      convergence === undefined
        ? null
        : {
            rendered: convergence.rendered,
            converged: convergence.converged,
            agents: convergence.agents,
            acked: convergence.acked,
            heldReason: convergence.heldReason,
          },
    agents: states,
  };
  out.result(document, () => humanStatus(session, services, document));
}

function serviceJson(service: ServiceStatusResponse) {
  return {
    service: service.service,
    instance: service.instance,
    ready: service.ready,
    reason: service.reason,
    environment: service.environment,
    slots: service.slots.length,
  };
}

interface StatusDocument {
  readonly environment: string;
  readonly head: {
    readonly sequence: bigint;
    readonly author: string;
    readonly message: string;
    readonly time: string;
    readonly files: number;
  } | null;
  readonly convergence: {
    readonly converged: boolean;
    readonly rendered: boolean;
    readonly agents: number;
    readonly acked: number;
    readonly heldReason: string;
  } | null;
  readonly agents: Readonly<Record<string, number>>;
}

function humanStatus(
  session: Session,
  services: readonly ServiceStatusResponse[],
  { environment, head, convergence, agents }: StatusDocument,
): string[] {
  const { out } = session;
  const { paint } = out;
  const lines = out.table(
    [
      { title: "SERVICE", cell: (row: ServiceStatusResponse) => row.service },
      { title: "INSTANCE", cell: (row) => row.instance },
      { title: "READY", cell: (row) => (row.ready ? paint.green("yes") : paint.red("no")) },
      { title: "ENVIRONMENT", cell: (row) => row.environment },
      { title: "SLOTS", cell: (row) => `${row.slots.length}`, align: "right" },
      { title: "", cell: (row) => row.reason, flexible: true },
    ],
    services,
  );
  lines.push("");
  lines.push(
    head === null
      ? "configuration  no commit yet"
      : `configuration  commit ${head.sequence} in ${environment} by ${head.author}, ` +
          `${timeText(head.time)}: ${head.message} (${head.files} files)`,
  );
  if (convergence !== null) lines.push(`convergence    ${convergenceText(session, convergence)}`);
  const counts = Object.entries(agents).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = counts.map(([state, count]) => `${count} ${paintState(state, paint)}`).join(", ");
  lines.push(`agents         ${text || "none"}`);
  return lines;
}

function convergenceText(
  session: Session,
  state: NonNullable<StatusDocument["convergence"]>,
): string {
  const { paint } = session.out;
  if (state.heldReason !== "") return paint.red(`held: ${state.heldReason}`);
  if (state.converged) return paint.green(`converged, ${state.acked} agents`);
  return state.rendered
    ? paint.yellow(`${state.acked} of ${state.agents} agents have acknowledged`)
    : paint.yellow("being rendered");
}
