import {
  type Ledger,
  layeredTree,
  type Plan,
  plan as planTrees,
  RINGWALL,
  writeLedger,
} from "@ringwall/declared";
import { Command } from "commander";
import { contentsByDigest } from "../declared/declared-repo.ts";
import { asCliError } from "../declared/failure.ts";
import { passGates } from "../declared/gates.ts";
import { commitName, type LiveReading, readCommit, runIdAfter } from "../declared/live-reading.ts";
import { countsText, planJson, planLines } from "../declared/plan-view.ts";
import { CliError } from "../errors.ts";
import { submit } from "../live/commit.ts";
import { findCommit, idOf } from "../live/commits.ts";
import { readConfigTree } from "../live/config-tree.ts";
import { environmentFor } from "../live/services.ts";
import { harmless } from "../output/paint.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { commitJson, commitText, settle, showWarnings, waitIfAsked } from "./commit-result.ts";
import { authorOption, defaultAuthor, waitOption } from "./options.ts";

interface RollbackOptions {
  readonly to: string;
  readonly yes?: boolean;
  readonly planSha256?: string;
  readonly dryRun?: boolean;
  readonly diff?: boolean;
  readonly author?: string;
  readonly message?: string;
  readonly wait?: number | true;
}

/** `ringwall rollback`: a new commit that restores an earlier tree. */
export function rollbackCommand(context: CommandContext): Command {
  return new Command("rollback")
    .summary("restore the configuration of an earlier commit")
    .description(
      "Shows what restoring the tree of an earlier commit would change and, with --yes or the " +
        "plan's digest, does it in a new commit.\nHistory stays; a rollback can be rolled back.",
    )
    .requiredOption("--to <commit>", "number or id of the commit to restore")
    .option("--yes", "do it")
    .option("--plan-sha256 <digest>", "do it if the plan is still this one")
    .option("--dry-run", "only check and say what would change")
    .option("--diff", "also show the differences")
    .addOption(authorOption())
    .option("-m, --message <text>", "why, in the commit")
    .addOption(waitOption())
    .action((options: RollbackOptions, command: Command) =>
      withSession(context, command, (session) => rollback(session, options)),
    );
}

async function rollback(session: Session, options: RollbackOptions): Promise<void> {
  const { out } = session;
  const view = { ...options, sides: ["live", "restored"] } as const;
  const operator = await session.operator();
  const { commit: target } = await findCommit(operator, options.to);
  const now = await readCommit(session, await readConfigTree(operator), new Map());
  const known = contentsByDigest(now.live.core, now.live.environment);
  const then = await readCommit(session, await readConfigTree(operator, idOf(target)), known);
  const restored = planTrees({
    profile: RINGWALL,
    desired: then.live,
    live: now.live,
    ledger: { files: [...layeredTree(now.live).keys()] },
  });
  const document = {
    to: { sequence: target.inputs?.configSequence ?? 0n, message: target.message },
    live: now.name,
    dryRun: options.dryRun === true,
    ...planJson(RINGWALL, restored, view),
  };
  const lines = () => [
    out.paint.bold(`from ${now.name} back to ${then.name} "${harmless(target.message)}"`),
    ...planLines(RINGWALL, restored, out, view),
    `${countsText(restored)}; plan ${restored.planSha256}`,
  ];
  if (!restored.hasChanges) {
    out.result({ ...document, unchanged: true, commit: null }, () => [
      ...lines(),
      "nothing to restore",
    ]);
    return;
  }
  const isConfirmed = options.yes === true || options.planSha256 !== undefined;
  if (!isConfirmed && options.dryRun !== true) {
    out.lines(out.json ? [] : lines());
    throw new CliError("usage", "nothing was restored", {
      hint: "add --yes to do it, or --plan-sha256 with the plan's digest",
      data: document,
    });
  }
  passGates(restored, { ...options, allowDestructive: true });
  const committed = await commit(session, options, now, then, restored);
  showWarnings(session, committed.warnings);
  if (options.dryRun === true) {
    out.result({ ...document, commit: null }, () => [
      ...lines(),
      "nothing was written (--dry-run)",
    ]);
    return;
  }
  const converged = await waitIfAsked(session, committed.commit, options.wait);
  out.result(
    {
      ...document,
      unchanged: false,
      commit: commitJson(committed.commit),
      ...(converged === undefined ? {} : { converged }),
    },
    () => [
      ...lines(),
      `restored in ${commitText(committed.commit)}`,
      ...(converged === undefined
        ? []
        : [`converged: ${converged.agents} agents after ${converged.seconds.toFixed(2)} s`]),
    ],
  );
}

/** What was declared then is declared again; without a ledger then, nothing is. */
function ledgerAfter(now: LiveReading, then: LiveReading): Ledger | undefined {
  const ledger = then.ledger ?? now.ledger;
  if (ledger === undefined) return undefined;
  const files = then.ledger === undefined ? [] : ledger.files;
  return { ...ledger, files, runId: runIdAfter(now.config?.commit) };
}

async function commit(
  session: Session,
  options: RollbackOptions,
  now: LiveReading,
  then: LiveReading,
  { puts, deletes }: Plan,
) {
  const operator = await session.operator();
  const head = now.config?.commit;
  const base = { head, environment: now.config?.environment ?? "", files: [] };
  const ledger = ledgerAfter(now, then);
  const bytes = ledger && (await asCliError("", () => writeLedger(ledger).bytes));
  const to = then.config?.commit;
  const outcome = await submit(operator, {
    base,
    puts: puts.map(({ layer, path, content }) => ({ layer, path, bytes: content.bytes })),
    removals: deletes.map((name) => {
      const slash = name.indexOf("/");
      const layer = name.slice(0, slash) === "core" ? "core" : "environment";
      return { layer, path: name.slice(slash + 1) };
    }),
    author: options.author ?? defaultAuthor(),
    message: options.message ?? `roll back to ${to === undefined ? "nothing" : commitName(to)}`,
    environment: await environmentFor(operator, base, session.globals.environment),
    dryRun: options.dryRun === true,
    ...(bytes === undefined ? {} : { ledger: bytes }),
  });
  return settle(outcome, () => undefined);
}
