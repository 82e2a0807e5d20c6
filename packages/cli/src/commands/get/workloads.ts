import { matches } from "@ringwall/labels";
import { Command } from "commander";
import { CliError } from "../../errors.ts";
import { readEstate } from "../../live/estate.ts";
import { strangers, type WorkloadView, workloadViews } from "../../live/inventory-view.ts";
import { listStatus } from "../../live/status.ts";
import { labelText } from "../../output/labels.ts";
import type { Out } from "../../output/out.ts";
import { harmless } from "../../output/paint.ts";
import { paintMode, paintState } from "../../output/states.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";
import { readSelector } from "../mode.ts";

interface WorkloadsOptions {
  readonly selector?: string;
}

/** `ringwall get workloads`. */
export function getWorkloadsCommand(context: CommandContext): Command {
  return new Command("workloads")
    .summary("workloads with labels, mode, version and state")
    .description(
      "Lists workloads with effective labels, mode, version and the state of their agents. With one " +
        "id, or with --json, every label names where it comes from.",
    )
    .argument("[ids...]", "only these")
    .option("-l, --selector <selector>", "only those whose effective labels match")
    .action((ids: string[], options: WorkloadsOptions, command: Command) =>
      withSession(context, command, (session) => getWorkloads(session, ids, options)),
    );
}

async function getWorkloads(
  session: Session,
  ids: readonly string[],
  options: WorkloadsOptions,
): Promise<void> {
  const operator = await session.operator();
  const [estate, statuses] = await Promise.all([readEstate(operator), listStatus(operator)]);
  const all = [...workloadViews(estate, statuses), ...strangers(estate, statuses)];
  const selector = options.selector === undefined ? undefined : readSelector(options.selector);
  const chosen = all
    .filter((view) => ids.length === 0 || ids.includes(view.id))
    .filter((view) => selector === undefined || matches(selector, labelsOf(view)));
  const missing = ids.filter((id) => !all.some((view) => view.id === id));
  if (missing.length > 0) {
    throw new CliError("refused", `not in the registry: ${missing.join(", ")}`, {
      hint: "`ringwall get workloads` lists all of them",
    });
  }
  const [only] = chosen;
  session.out.result({ revision: estate.registry.revision, workloads: chosen }, () =>
    ids.length === 1 && only !== undefined
      ? describeWorkload(session.out, only)
      : workloadTable(session.out, chosen),
  );
}

/** Labels of a view as an object. */
export function labelsOf(view: WorkloadView): Record<string, string> {
  return Object.fromEntries(view.labels.map(({ key, value }) => [key, value]));
}

/** The table of workloads, and a line that sums it up. */
export function workloadTable(out: Out, views: readonly WorkloadView[]): string[] {
  const { paint } = out;
  const synced = views.filter((view) => view.state === "SYNCED").length;
  return [
    ...out.table(
      [
        { title: "WORKLOAD", cell: (view: WorkloadView) => paint.bold(view.id) },
        { title: "LABELS", cell: (view) => labelText(labelsOf(view)), flexible: true },
        { title: "ADDRESSES", cell: (view) => view.addresses.join(" ") || "-", flexible: true },
        { title: "MODE", cell: (view) => paintMode(view.mode, paint) },
        { title: "VERSION", cell: versionText, align: "right" },
        { title: "STATE", cell: (view) => paintState(view.state, paint) },
        { title: "", cell: (view) => harmless(view.state === "SYNCED" ? "" : view.detail) },
      ],
      views,
    ),
    paint.dim(`${views.length} workloads, ${synced} synced`),
  ];
}

/** The head version, and the acknowledged one where it differs. */
export function versionText(view: Pick<WorkloadView, "version" | "acked">): string {
  if (view.version === 0n && view.acked === 0n) return "-";
  return view.version === view.acked ? `${view.version}` : `${view.acked}→${view.version}`;
}

function describeWorkload(out: Out, view: WorkloadView): string[] {
  const { paint } = out;
  const fields: readonly [string, string][] = [
    ["state", `${paintState(view.state, paint)}${view.detail === "" ? "" : ` ${view.detail}`}`],
    ["mode", `${paintMode(view.mode, paint)} ${paint.dim(`from ${view.modeSource}`)}`],
    ["version", versionText(view)],
    ["addresses", view.addresses.join(" ") || "none"],
    ["services", view.services.join(" ") || "none"],
    ["outbounds", view.outbounds.join(" ") || "none"],
    ["presence", view.presence],
    ["source", view.source],
    ...Object.entries(view.attributes),
    ...Object.entries(view.facts),
  ];
  const width = Math.max(...fields.map(([name]) => name.length));
  return [
    paint.bold(view.id),
    ...fields.map(([name, value]) => `  ${paint.dim(name.padEnd(width))}  ${value}`),
    "",
    ...out.table(
      [
        { title: "LABEL", cell: (label: WorkloadView["labels"][number]) => label.key },
        { title: "VALUE", cell: (label) => label.value },
        { title: "FROM", cell: (label) => label.source },
      ],
      view.labels,
    ),
  ];
}
