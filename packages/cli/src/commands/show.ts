import {
  EMPTY_TREE,
  layeredTree,
  type Plan,
  plan as planTrees,
  RINGWALL,
} from "@ringwall/declared";
import { Command } from "commander";
import { contentsByDigest } from "../declared/declared-repo.ts";
import { commitName, type LiveReading, readCommit } from "../declared/live-reading.ts";
import { diffColour, diffLines } from "../declared/plan-view.ts";
import { findCommit, idOf } from "../live/commits.ts";
import { readConfigTree } from "../live/config-tree.ts";
import { hex } from "../live/hex.ts";
import { harmless } from "../output/paint.ts";
import { timeText } from "../output/time.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

interface ShowOptions {
  readonly diff: boolean;
}

/** `ringwall show`: one commit, with what it changed. */
export function showCommand(context: CommandContext): Command {
  return new Command("show")
    .summary("one commit of the configuration, with what it changed")
    .argument("<commit>", "its number or id, from `ringwall history`")
    .option("--no-diff", "only list the files")
    .action((name: string, options: ShowOptions, command: Command) =>
      withSession(context, command, (session) => show(session, name, options)),
    );
}

async function show(session: Session, name: string, options: ShowOptions): Promise<void> {
  const { out } = session;
  const operator = await session.operator();
  const { commit, parent } = await findCommit(operator, name);
  const before =
    parent && (await readCommit(session, await readConfigTree(operator, idOf(parent)), new Map()));
  const known = contentsByDigest(
    before?.live.core ?? EMPTY_TREE,
    before?.live.environment ?? EMPTY_TREE,
  );
  const after = await readCommit(session, await readConfigTree(operator, idOf(commit)), known);
  const change = changeBetween(before, after);
  const files = changedFiles(change);
  const diff = options.diff ? diffLines(RINGWALL, change, ["before", "after"]) : [];
  const time = new Date(Number(commit.timeUnixMs)).toISOString();
  const isApply = after.ledger !== undefined && after.ledger.runId !== before?.ledger?.runId;
  const document = {
    sequence: commit.inputs?.configSequence ?? 0n,
    id: hex(idOf(commit)),
    parent: parent === undefined ? null : hex(idOf(parent)),
    time,
    author: commit.author,
    message: commit.message,
    declared: isApply,
    files,
    ...(options.diff ? { diff: diff.join("\n") } : {}),
  };
  const { paint } = out;
  const signs = { added: paint.green("+"), changed: paint.yellow("~"), removed: paint.red("-") };
  out.result(document, () => [
    paint.bold(commitName(commit)),
    `author  ${harmless(commit.author)}`,
    `time    ${timeText(time)}`,
    `message ${harmless(commit.message)}`,
    ...(isApply ? ["this commit applied a declared tree, or restored one"] : []),
    "",
    ...files.map(({ path, change: what }) => `${signs[what]} ${harmless(path)}`),
    ...(files.length === 0 ? ["no file changed"] : []),
    ...diff.map((line) => diffColour(line, paint)),
  ]);
}

/** The commit as a plan that leads from its parent to it. */
function changeBetween(before: LiveReading | undefined, after: LiveReading): Plan {
  const live = before?.live ?? { core: EMPTY_TREE, environment: EMPTY_TREE };
  return planTrees({
    profile: RINGWALL,
    desired: after.live,
    live,
    ledger: { files: [...layeredTree(live).keys()] },
  });
}

function changedFiles({ entries }: Plan) {
  return entries.flatMap(({ files }) =>
    files
      .filter(({ live, desired }) => live?.sha256 !== desired?.sha256)
      .map(
        ({ path, live, desired }) =>
          ({
            path,
            change: live === undefined ? "added" : desired === undefined ? "removed" : "changed",
          }) as const,
      ),
  );
}
