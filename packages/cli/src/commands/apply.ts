import { Command, Option } from "commander";
import type { FindingLine } from "../errors.ts";
import { CliError } from "../errors.ts";
import {
  filesOf,
  filesOfRepo,
  type InputFile,
  isDeclaredRepo,
  type LayerName,
} from "../input/find-files.ts";
import { readSources, type Sources } from "../input/read-sources.ts";
import { readStandardInput } from "../input/standard-input.ts";
import { putBack } from "../live/blobs.ts";
import { effectivePuts, type Put, submit, wireFindings } from "../live/commit.ts";
import { environmentFor } from "../live/services.ts";
import { type LiveTree, readLiveTree } from "../live/tree.ts";
import type { CommandContext, Session } from "../session.ts";
import { withSession } from "../session.ts";
import { type ApplyRepoOptions, addApplyRepoOptions, applyRepo } from "./apply-repo.ts";
import {
  commitJson,
  commitText,
  countFindings,
  type Locate,
  settle,
  showWarnings,
  waitIfAsked,
} from "./commit-result.ts";
import { authorOption, defaultAuthor, waitOption } from "./options.ts";
import { unmatchedSelectors } from "./unmatched-selectors.ts";

interface ApplyOptions extends ApplyRepoOptions {
  readonly file?: readonly string[];
  readonly layer: LayerName;
}

/** Rules that may be broken only because a document that could not be read is missing. */
const FOLLOW_UP_RULES = new Set(["service-unknown", "address-group-unknown", "in-use"]);

/** `ringwall apply`: documents, or a whole declared repo, become one commit. */
export function applyCommand(context: CommandContext): Command {
  const command = new Command("apply")
    .summary("commit YAML documents or a declared repo to the live tree")
    .description(
      "Commits Ruleset, Service, AddressGroup, TrafficRoute, Inventory and AlertSink documents in " +
        "one step.\nA directory is a declared repo (targets/ and gateways/) or any folder of YAML " +
        "files; - is stdin.\nNothing is deleted. Every finding is shown at once, with file, line " +
        "and path.\nWith --repo the live side becomes what the repo declares: what it declared before " +
        "and does not any more is deleted, after the plan has passed its gates.",
    )
    .option("-f, --file <paths...>", "files, directories, or - for stdin")
    .addOption(
      new Option("--layer <layer>", "layer of documents that stand outside a declared repo")
        .choices(["core", "environment"])
        .default("core"),
    )
    .addOption(authorOption())
    .option("-m, --message <text>", "why, in the commit")
    .option("--dry-run", "only check and say what would change")
    .addOption(waitOption());
  return addApplyRepoOptions(command).action((options: ApplyOptions, invoked: Command) =>
    withSession(context, invoked, (session) => {
      const { file, repo } = options;
      if (file !== undefined && repo === undefined) return apply(session, { ...options, file });
      if (file === undefined && repo !== undefined) return applyRepo(session, { ...options, repo });
      throw new CliError("usage", "name documents with --file, or a declared repo with --repo");
    }),
  );
}

async function apply(
  session: Session,
  options: ApplyOptions & { readonly file: readonly string[] },
): Promise<void> {
  const repos: string[] = [];
  const files: InputFile[] = [];
  for (const path of options.file) {
    if (path === "-") files.push({ file: "stdin", bytes: await readStandardInput() });
    else if (await isDeclaredRepo(path)) repos.push(path);
    else files.push(...(await filesOf(path)));
  }
  const operator = await session.operator();
  const tree = await readLiveTree(operator);
  const environment = await environmentFor(operator, tree, session.globals.environment);
  for (const repo of repos) files.push(...(await filesOfRepo(repo, environment)));
  const sources = readSources(files, { layer: options.layer, environment });
  const locate: Locate = (file) => sources.origins.get(file);
  const puts = effectivePuts(tree, sources.puts);
  const change = {
    base: tree,
    puts,
    removals: [],
    author: options.author ?? defaultAuthor(),
    message: options.message ?? `apply ${options.file.join(" ")}`,
    environment,
    dryRun: options.dryRun === true,
  };
  if (sources.findings.some((finding) => !finding.warning)) {
    const outcome = await submit(operator, { ...change, dryRun: true });
    const further = outcome.kind === "rejected" ? wireFindings(outcome.findings, locate) : [];
    throw unreadable([
      ...sources.findings,
      ...further.filter((finding) => !FOLLOW_UP_RULES.has(finding.rule)),
    ]);
  }
  if (sources.puts.length === 0) {
    throw new CliError("usage", `no documents in ${options.file.join(", ")}`, {
      hint: "name YAML files, a folder of them, or a declared repo with targets/ and gateways/",
    });
  }
  const changed = new Set(puts);
  const same = sources.puts.filter((put) => !changed.has(put)).map(({ bytes }) => bytes);
  const restored = change.dryRun ? 0 : await putBack(operator, same);
  const committed = settle(await submit(operator, change), locate);
  const warnings = [
    ...sources.findings,
    ...committed.warnings,
    ...(await unmatchedSelectors(operator, sources)),
  ];
  showWarnings(session, warnings);
  const waited = change.dryRun
    ? undefined
    : await waitIfAsked(session, committed.commit, options.wait);
  report(session, { tree, sources, puts, restored, committed, warnings, waited, change });
}

function unreadable(findings: readonly FindingLine[]): CliError {
  return new CliError("invalid", `refused: ${countFindings(findings)}; nothing was written`, {
    findings,
  });
}

interface Applied {
  readonly tree: LiveTree;
  readonly sources: Sources;
  readonly puts: readonly Put[];
  /** Files that were the same and whose bytes the store had lost. */
  readonly restored: number;
  readonly committed: ReturnType<typeof settle>;
  readonly warnings: readonly FindingLine[];
  readonly waited: { agents: number; seconds: number } | undefined;
  readonly change: { readonly dryRun: boolean; readonly environment: string };
}

function report(session: Session, applied: Applied): void {
  const { tree, sources, puts, restored, committed, warnings, waited, change } = applied;
  const { out } = session;
  const held = new Set(tree.files.map(({ layer, path }) => `${layer}/${path}`));
  const names = puts.map(({ layer, path }) => `${layer}/${path}`).sort();
  const added = names.filter((name) => !held.has(name));
  const changed = names.filter((name) => held.has(name));
  const same = sources.puts.length - puts.length;
  const document = {
    environment: change.environment,
    dryRun: change.dryRun,
    commit: change.dryRun ? null : commitJson(committed.commit),
    added,
    changed,
    same,
    restored,
    warnings,
    ...(waited === undefined ? {} : { converged: waited }),
  };
  out.result(document, () => {
    const counts = `${added.length} added, ${changed.length} changed, ${same} the same`;
    const lines = [
      ...added.map((name) => `${out.paint.green("+")} ${name}`),
      ...changed.map((name) => `${out.paint.yellow("~")} ${name}`),
    ];
    if (restored > 0) lines.push(`${restored} that the store had lost are there again`);
    if (change.dryRun) lines.push(`would commit to ${change.environment}: ${counts}`);
    else if (puts.length === 0)
      lines.push(`nothing changed; head is ${commitText(committed.commit)}`);
    else lines.push(`${commitText(committed.commit)} in ${change.environment}: ${counts}`);
    if (waited !== undefined) {
      lines.push(`converged: ${waited.agents} agents after ${waited.seconds.toFixed(2)} s`);
    }
    return lines;
  });
}
