import {
  type CommitSummary,
  type HistoryEntry,
  ListCommitsRequestSchema,
  ListCommitsResponseSchema,
  ListHistoryRequestSchema,
  ListHistoryResponseSchema,
} from "@ringwall/wire";
import { Command, Option } from "commander";
import { hex, shortHex } from "../live/hex.ts";
import { accepted, type Operator } from "../live/operator.ts";
import { ruleNames, withRuleNames } from "../live/rule-names.ts";
import { readConfiguration } from "../live/tree.ts";
import { harmless } from "../output/paint.ts";
import { timeText } from "../output/time.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { readCount } from "./options.ts";

interface HistoryOptions {
  readonly limit: number;
}

const PAGE = 200;

/** `ringwall history`. */
export function historyCommand(context: CommandContext): Command {
  return new Command("history")
    .summary("versions of a workload, or commits of the configuration")
    .description(
      "With a workload id: its versions, newest first, each with what changed. Without: the commits " +
        "of the configuration.",
    )
    .argument("[id]", "workload id")
    .addOption(new Option("-n, --limit <count>", "most entries").default(20).argParser(readCount))
    .action((id: string | undefined, options: HistoryOptions, command: Command) =>
      withSession(context, command, (session) =>
        id === undefined ? commits(session, options.limit) : versions(session, id, options.limit),
      ),
    );
}

async function listCommits(operator: Operator, most: number): Promise<CommitSummary[]> {
  const found: CommitSummary[] = [];
  let beforeSequence = 0n;
  while (found.length < most) {
    const answer = accepted(
      "config.commits",
      await operator.call("config.commits", ListCommitsRequestSchema, ListCommitsResponseSchema, {
        beforeSequence,
        limit: Math.min(PAGE, most - found.length),
      }),
    );
    found.push(...answer.commits);
    const last = answer.commits.at(-1)?.inputs?.configSequence;
    if (!answer.more || last === undefined) break;
    beforeSequence = last;
  }
  return found;
}

async function commits(session: Session, most: number): Promise<void> {
  const { out } = session;
  const found = await listCommits(await session.operator(), most);
  const rows = found.map((commit) => ({
    sequence: commit.inputs?.configSequence ?? 0n,
    id: hex(commit.inputs?.commitId ?? new Uint8Array()),
    time: new Date(Number(commit.timeUnixMs)).toISOString(),
    author: commit.author,
    message: commit.message,
    puts: commit.puts,
    deletes: commit.deletes,
  }));
  type Row = (typeof rows)[number];
  out.result({ commits: rows }, () =>
    rows.length === 0
      ? ["no commit yet; `ringwall apply` makes the first"]
      : out.table<Row>(
          [
            { title: "COMMIT", cell: (row) => `${row.sequence}`, align: "right" },
            { title: "ID", cell: (row) => row.id.slice(0, 12) },
            { title: "TIME", cell: (row) => timeText(row.time) },
            { title: "AUTHOR", cell: (row) => harmless(row.author) },
            { title: "FILES", cell: (row) => `+${row.puts} -${row.deletes}` },
            { title: "MESSAGE", cell: (row) => harmless(row.message), flexible: true },
          ],
          rows,
        ),
  );
}

async function versions(session: Session, workload: string, limit: number): Promise<void> {
  const { out } = session;
  const operator = await session.operator();
  const { entries } = accepted(
    "policy.history",
    await operator.call("policy.history", ListHistoryRequestSchema, ListHistoryResponseSchema, {
      workload,
      limit,
    }),
  );
  const document = {
    workload,
    versions: entries.map((entry) => ({
      epoch: entry.epoch,
      from: entry.fromVersion,
      version: entry.version,
      digest: hex(entry.digest),
      time: new Date(Number(entry.timeUnixMs)).toISOString(),
      configSequence: entry.inputs?.configSequence ?? 0n,
      registryRevision: entry.inputs?.registryRevision ?? 0n,
      changes: entry.changes,
      ...(entry.note === "" ? {} : { note: entry.note }),
    })),
  };
  const names = out.json
    ? new Map<string, string>()
    : ruleNames((await readConfiguration(operator)).configuration);
  out.result(document, () => entries.flatMap((entry) => entryLines(session, entry, names)));
}

function entryLines(
  session: Session,
  entry: HistoryEntry,
  names: ReadonlyMap<string, string>,
): string[] {
  const { paint } = session.out;
  const removed = entry.digest.length === 0;
  const title = removed
    ? paint.red(`removed at version ${entry.version}`)
    : paint.bold(`version ${entry.version}`);
  const body = removed ? "" : ` body ${shortHex(entry.digest)}`;
  const time = timeText(new Date(Number(entry.timeUnixMs)).toISOString());
  const inputs = `commit ${entry.inputs?.configSequence ?? 0n}, registry ${entry.inputs?.registryRevision ?? 0n}`;
  return [
    `${title} ${paint.dim(`${time}${body}, ${inputs}`)}`,
    ...entry.changes.map((change) => `  ${harmless(withRuleNames(change, names))}`),
    ...(entry.note === "" ? [] : [`  ${paint.dim(entry.note)}`]),
  ];
}
