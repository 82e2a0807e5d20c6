import { randomUUID } from "node:crypto";
import { type Ledger, sortPaths, writeLedger } from "@ringwall/declared";
import { writeDataDirectory } from "@ringwall/declared/fs";
import type { CommitSummary } from "@ringwall/wire";
import type { Command } from "commander";
import { readDeclaredRepo } from "../declared/declared-repo.ts";
import { asCliError } from "../declared/failure.ts";
import { passGates } from "../declared/gates.ts";
import { runIdAfter } from "../declared/live-reading.ts";
import { makePlan, type Planned } from "../declared/make-plan.ts";
import {
  addGateOptions,
  chosenProfile,
  dataDirectoryOption,
  type GateOptions,
  gatewayOption,
  profileOption,
  type RepoOptions,
} from "../declared/options.ts";
import { countsText } from "../declared/plan-view.ts";
import { submit } from "../live/commit.ts";
import type { Session } from "../session.ts";
import {
  type Committed,
  commitJson,
  commitText,
  settle,
  showWarnings,
  waitIfAsked,
} from "./commit-result.ts";
import { defaultAuthor } from "./options.ts";
import { documentOf, linesOf } from "./plan.ts";

/** Options of `ringwall apply` that belong to a declared repo, and those that it shares. */
export interface ApplyRepoOptions extends Omit<RepoOptions, "repo">, GateOptions {
  readonly repo?: string;
  readonly base?: string;
  readonly author?: string;
  readonly message?: string;
  readonly dryRun?: boolean;
  readonly diff?: boolean;
  readonly wait?: number | true;
}

/** Adds the options of `ringwall apply --repo`; `--profile ignition` writes a data directory. */
export function addApplyRepoOptions(command: Command): Command {
  return addGateOptions(
    command
      .option("--repo <path>", "declared repo to apply as a whole")
      .addOption(gatewayOption())
      .addOption(profileOption())
      .addOption(dataDirectoryOption())
      .option("--base <path>", "repo that was applied last, to measure drift from")
      .option("--diff", "also show the differences of a repo, secrets replaced"),
  );
}

/** Plans, passes the gates and carries the plan out: one commit, or one swap of a folder. */
export async function applyRepo(
  session: Session,
  options: ApplyRepoOptions & { readonly repo: string },
): Promise<void> {
  const { out } = session;
  const chosen = chosenProfile(options);
  const repo = await readDeclaredRepo(session, chosen.profile, options);
  showWarnings(session, repo.warnings);
  const planned = await makePlan(session, chosen, repo, options);
  const document = { ...documentOf(planned, options), dryRun: options.dryRun === true };
  if (options.dryRun === true) {
    if (planned.reading.config !== undefined) await commit(session, planned, options);
    out.result({ ...document, commit: null }, () => [
      ...linesOf(planned, out, options),
      "nothing was written (--dry-run)",
    ]);
    return;
  }
  passGates(planned.plan, options);
  const isSettled = !planned.plan.hasChanges && isLedgerRight(planned);
  if (isSettled) {
    const data = { ...document, unchanged: true, commit: null };
    out.result(data, () => [`nothing changed: ${countsText(planned.plan)}`]);
    return;
  }
  if (chosen.kind === "ignition") {
    await writeData(chosen.dataDirectory, planned);
    out.result({ ...document, unchanged: false }, () => [
      ...linesOf(planned, out, options),
      `applied to ${chosen.dataDirectory}`,
    ]);
    return;
  }
  const committed = await commit(session, planned, options);
  showWarnings(session, committed.warnings);
  const converged = await waitIfAsked(session, committed.commit, options.wait);
  const data = {
    ...document,
    unchanged: false,
    commit: commitJson(committed.commit),
    ...(converged === undefined ? {} : { converged }),
  };
  out.result(data, () => [
    ...linesOf(planned, out, options),
    `${commitText(committed.commit)} in ${repo.target.environment}`,
    ...(converged === undefined
      ? []
      : [`converged: ${converged.agents} agents after ${converged.seconds.toFixed(2)} s`]),
  ]);
}

/** The ledger after applying. */
function nextLedger({ repo, plan, ownedOutOfScope }: Planned, runId: string): Ledger {
  return {
    gateway: repo.target.gateway,
    mode: repo.target.environment,
    renderSha256: repo.rendered.renderSha256,
    runId,
    files: sortPaths([...plan.owned, ...ownedOutOfScope]),
  };
}

/** True if the present ledger says already what the next one would. */
function isLedgerRight(planned: Planned): boolean {
  const { ledger } = planned.reading;
  if (ledger === undefined) return false;
  const next = nextLedger(planned, ledger.runId);
  return (
    next.renderSha256 === ledger.renderSha256 &&
    next.files.length === ledger.files.length &&
    next.files.every((path, index) => path === ledger.files[index])
  );
}

async function writeData(dataDirectory: string, planned: Planned): Promise<void> {
  const { repo, plan, reading } = planned;
  await asCliError("", () =>
    writeDataDirectory(dataDirectory, repo.target.environment, {
      plan,
      ledger: nextLedger(planned, randomUUID()),
      fingerprint: reading.fingerprint ?? "",
    }),
  );
}

/** One commit with everything in it: files, deletes and the ledger that describes them. */
async function commit(
  session: Session,
  planned: Planned,
  options: ApplyRepoOptions,
): Promise<Committed> {
  const { repo, plan, reading } = planned;
  const head: CommitSummary | undefined = reading.config?.commit;
  const { environment } = repo.target;
  const why = options.allowDrift === undefined ? "" : ` (drift allowed: ${options.allowDrift})`;
  const ledger = await asCliError("", () => writeLedger(nextLedger(planned, runIdAfter(head))));
  const outcome = await submit(await session.operator(), {
    base: { head, environment, files: [] },
    puts: plan.puts.map(({ layer, path, content }) => ({ layer, path, bytes: content.bytes })),
    removals: plan.deletes.map((name) => {
      const slash = name.indexOf("/");
      const layer = name.slice(0, slash) === "core" ? "core" : "environment";
      return { layer, path: name.slice(slash + 1) };
    }),
    author: options.author ?? defaultAuthor(),
    message: `${options.message ?? `apply ${repo.target.gateway}`}${why}`,
    environment,
    dryRun: options.dryRun === true,
    ledger: ledger.bytes,
  });
  return settle(outcome, (file) => {
    const source = repo.rendered.sources.get(file);
    return source === undefined ? undefined : { file: `${repo.folder}${source}`, lineOffset: 0 };
  });
}
