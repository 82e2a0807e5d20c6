import { AgentState } from "@ringwall/wire";
import { Command } from "commander";
import { CliError } from "../errors.ts";
import { connectOperator } from "../live/bus-operator.ts";
import { type CommitTrace, type TracedWorkload, traceCommit } from "../live/commit-trace.ts";
import { findCommit } from "../live/commits.ts";
import { hex, shortHex } from "../live/hex.ts";
import { stateName } from "../live/status.ts";
import { readLiveTree } from "../live/tree.ts";
import type { Out } from "../output/out.ts";
import { harmless } from "../output/paint.ts";
import { paintState } from "../output/states.ts";
import { timeText } from "../output/time.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

const PARTITIONS = 64;
const SHOWN_WORKLOADS = 50;

/** `ringwall trace`. */
export function traceCommand(context: CommandContext): Command {
  return new Command("trace")
    .summary("the path of a commit to the hosts, with times per hop")
    .description(
      "Follows a commit through the records of the control plane: stored, rendered, given versions, " +
        "acknowledged by the agents. Times are those of the streams and the gateways, so nothing has " +
        "to be switched on for it.",
    )
    .argument("[commit]", "number or id; the head by default")
    .option("--all", "list every workload, not only the first fifty")
    .action((name: string | undefined, options: { all?: boolean }, command: Command) =>
      withSession(context, command, (session) => trace(session, name, options.all === true)),
    );
}

async function trace(session: Session, name: string | undefined, all: boolean): Promise<void> {
  const { out, globals, interrupted } = session;
  await using operator = await connectOperator(globals, out, interrupted);
  const head = name === undefined ? (await readLiveTree(operator)).head : undefined;
  const commit = name === undefined ? head : (await findCommit(operator, name)).commit;
  if (commit?.inputs === undefined) {
    throw new CliError("refused", "no commit yet", { hint: "`ringwall apply` makes the first" });
  }
  const found = await traceCommit(operator, commit.inputs.configSequence);
  const hops = hopsOf(found);
  out.result(
    {
      commit: {
        sequence: found.sequence,
        id: hex(found.commitId),
        author: found.author,
        message: found.message,
        storedAt: found.storedUnixMs,
      },
      hops,
      workloads: found.workloads.map((workload) => workloadJson(workload)),
    },
    () => human(out, found, hops, all),
  );
}

/** One hop of the path: how many of how many are through, and when the first and the last were. */
interface Hop {
  readonly hop: "rendered" | "versioned" | "acked";
  readonly done: number;
  readonly of: number;
  /** Milliseconds from the stored commit; null while nobody is through. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** Milliseconds from the end of the hop before; null while one of them is not complete. */
  readonly tookMs: number | null;
}

function hopsOf(found: CommitTrace): readonly Hop[] {
  const acked = found.workloads.map(({ ackedUnixMs }) => ackedUnixMs).filter((at) => at > 0);
  const hops: Hop[] = [];
  const add = (hop: Hop["hop"], times: readonly number[], of: number) => {
    const after = times.map((at) => at - found.storedUnixMs);
    const lastMs = after.length === 0 ? null : Math.max(...after);
    const before = hops.length === 0 ? 0 : (hops.at(-1)?.lastMs ?? null);
    const complete = times.length === of && lastMs !== null && before !== null;
    hops.push({
      hop,
      done: times.length,
      of,
      firstMs: after.length === 0 ? null : Math.min(...after),
      lastMs,
      tookMs: complete ? lastMs - before : null,
    });
  };
  add("rendered", [...found.rendered.values()], PARTITIONS);
  add("versioned", [...found.versioned.values()], PARTITIONS);
  add("acked", acked, found.workloads.length);
  return hops;
}

function workloadJson(workload: TracedWorkload) {
  const { id, partition, fromVersion, version, status } = workload;
  return {
    id,
    partition,
    fromVersion,
    version,
    renderedAt: workload.renderedUnixMs || null,
    versionedAt: workload.versionedUnixMs || null,
    ackedAt: workload.ackedUnixMs || null,
    ackedVersion: status?.ackedVersion ?? 0n,
    state: stateName(status?.state ?? AgentState.OFFLINE),
    detail: status?.detail ?? "",
  };
}

function human(out: Out, found: CommitTrace, hops: readonly Hop[], all: boolean): string[] {
  const { paint } = out;
  const time = new Date(found.storedUnixMs).toISOString();
  const shown = all ? found.workloads : found.workloads.slice(0, SHOWN_WORKLOADS);
  const after = (at: number) => (at === 0 ? "-" : milliseconds(at - found.storedUnixMs));
  const lines = [
    `${paint.bold(`commit ${found.sequence}`)} ${shortHex(found.commitId)} by ${harmless(found.author)}, ` +
      `stored ${timeText(time)}${time.slice(19)}: ${harmless(found.message)}`,
    "",
    ...out.table<Hop>(
      [
        { title: "HOP", cell: (row) => row.hop },
        { title: "DONE", cell: (row) => `${row.done}/${row.of}`, align: "right" },
        { title: "FIRST", cell: (row) => milliseconds(row.firstMs), align: "right" },
        { title: "LAST", cell: (row) => milliseconds(row.lastMs), align: "right" },
        { title: "TOOK", cell: (row) => milliseconds(row.tookMs), align: "right" },
      ],
      hops,
    ),
  ];
  if (found.workloads.length === 0) return [...lines, "", "it changed no workload's policy"];
  lines.push(
    "",
    ...out.table<TracedWorkload>(
      [
        { title: "WORKLOAD", cell: (row) => paint.bold(row.id) },
        { title: "VERSION", cell: (row) => `${row.fromVersion}→${row.version}`, align: "right" },
        { title: "RENDERED", cell: (row) => after(row.renderedUnixMs), align: "right" },
        { title: "VERSIONED", cell: (row) => after(row.versionedUnixMs), align: "right" },
        { title: "ACKED", cell: (row) => after(row.ackedUnixMs), align: "right" },
        {
          title: "STATE",
          cell: (row) => paintState(stateName(row.status?.state ?? AgentState.OFFLINE), paint),
        },
        { title: "", cell: noteOf, flexible: true },
      ],
      shown,
    ),
  );
  const more = found.workloads.length - shown.length;
  if (more > 0) lines.push(paint.dim(`… and ${more} more; --all lists them`));
  return lines;
}

/** Why a workload has no time of acknowledgement. */
function noteOf({ status, version, ackedUnixMs }: TracedWorkload): string {
  if (ackedUnixMs > 0) return "";
  const acked = status?.ackedVersion ?? 0n;
  if (acked > version) return `has gone on to version ${acked}`;
  if (acked === version) return "acknowledged with its Hello";
  return harmless(status?.detail || "not acknowledged yet");
}

function milliseconds(value: number | null): string {
  return value === null ? "-" : `${Math.round(value)} ms`;
}
