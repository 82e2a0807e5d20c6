import {
  collectionPath,
  environmentProblem,
  MANIFEST_FILE,
  type Manifest,
  type Pulled,
  pull as pullLive,
  type Target,
  type Tree,
  unifiedDiff,
} from "@ringwall/declared";
import { holdsDeclared, readRepo, readRepoManifest, writeRepo } from "@ringwall/declared/fs";
import { Command } from "commander";
import {
  contentsByDigest,
  folderOf,
  placeInRepo,
  wantedEnvironment,
} from "../declared/declared-repo.ts";
import { asCliError } from "../declared/failure.ts";
import { type LiveReading, readLive } from "../declared/live-reading.ts";
import {
  addRepoOptions,
  type ChosenProfile,
  chosenProfile,
  type RepoOptions,
} from "../declared/options.ts";
import { diffColour, scopeLines } from "../declared/plan-view.ts";
import { Progress } from "../declared/progress.ts";
import { CliError } from "../errors.ts";
import { harmless } from "../output/paint.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

interface PullOptions extends RepoOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly diff?: boolean;
}

/** `ringwall pull`: what is live becomes a declared tree. */
export function pullCommand(context: CommandContext): Command {
  const command = new Command("pull")
    .summary("take what is live into a declared repo")
    .description(
      "Writes the live side into a declared repo, core as base and the environment's files as its " +
        "overlay.\nWhat can't be declared is left out and listed, with the reason: secrets, types " +
        "without a rule, units that would not come out of a render as they are live.",
    );
  return addRepoOptions(command)
    .option("--yes", "replace what the repo declares already")
    .option("--dry-run", "only say what would be written")
    .option("--diff", "also show the differences to the repo, secrets replaced")
    .action((options: PullOptions, invoked: Command) =>
      withSession(context, invoked, (session) => pull(session, options)),
    );
}

async function pull(session: Session, options: PullOptions): Promise<void> {
  const chosen = chosenProfile(options);
  const { target, isNew } = await targetOf(session, options);
  const { gateway, environment } = target;
  const root = options.repo;
  const folder = folderOf(root, gateway);
  const holds = await asCliError(folder, () => holdsDeclared(root, gateway, environment));
  if (holds && options.yes !== true && options.dryRun !== true) {
    throw new CliError("usage", `${folder} declares something for ${environment} already`, {
      hint: "commit it, then add --yes to replace it; --dry-run only looks",
    });
  }
  const manifest = await asCliError(folder, () => readRepoManifest(root, gateway));
  const present = holds ? await presentTree(session, root, target, folder) : EMPTY;
  const reading = await readLive(session, chosen, environment, contentsByDigest(present));
  if (reading.config !== undefined && reading.config.commit === undefined) {
    throw new CliError("refused", "the control plane has no commit yet: there is nothing to pull");
  }
  const pulled = await pullTree(chosen, target, manifest, reading, folder);
  const changes = changesOf(present, pulled.tree);
  if (options.dryRun !== true) await write(session, root, target, isNew, pulled, folder);
  report(session, { options, chosen, target, reading, pulled, present, changes });
}

const EMPTY: Tree = new Map();

async function targetOf(
  session: Session,
  options: PullOptions,
): Promise<{ readonly target: Target; readonly isNew: boolean }> {
  const environment = wantedEnvironment(session);
  const problem = environmentProblem(environment);
  if (problem !== undefined) throw new CliError("usage", problem);
  const place = await placeInRepo(options.repo, environment, options.gateway);
  if (place !== undefined) return { target: place.target, isNew: false };
  const gateway = options.gateway ?? "";
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(gateway)) {
    const message =
      options.gateway === undefined
        ? `${options.repo} has no targets/${environment}.yaml`
        : `--gateway "${gateway}" is no name of a folder: letters, digits, _ . and -`;
    throw new CliError("usage", message, {
      hint: "begin with --gateway NAME: the folder below gateways/ that is written",
    });
  }
  const target = { gateway, environment, os: "linux", nodes: [], excludeTagProviders: [] } as const;
  return { target, isNew: true };
}

async function presentTree(
  session: Session,
  root: string,
  target: Target,
  folder: string,
): Promise<Tree> {
  const progress = new Progress(session);
  const { tree } = await asCliError(folder, () =>
    readRepo(root, target, (files) => progress.show("reading the repo", files)),
  );
  progress.clear();
  return tree;
}

function pullTree(
  { profile }: ChosenProfile,
  target: Target,
  manifest: Manifest | undefined,
  { live }: LiveReading,
  folder: string,
): Promise<Pulled> {
  return asCliError(folder, () =>
    pullLive({ ...target, profile, live, ...(manifest === undefined ? {} : { manifest }) }),
  );
}

async function write(
  session: Session,
  root: string,
  target: Target,
  isNew: boolean,
  pulled: Pulled,
  folder: string,
): Promise<void> {
  const progress = new Progress(session);
  let written = 0;
  await asCliError(folder, () =>
    writeRepo(root, {
      ...target,
      tree: pulled.tree,
      ...(isNew ? { newTarget: target } : {}),
      observe: (step) => {
        if (step !== "written" && step !== "kept") return;
        written += 1;
        progress.show("writing the repo", written);
      },
    }),
  );
  progress.clear();
}

interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What a pull does to the files of the repo. */
function changesOf(present: Tree, pulled: Tree): Changes {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [path, content] of pulled) {
    const before = present.get(path);
    if (before === undefined) added.push(path);
    else if (!before.equals(content)) changed.push(path);
  }
  const stays = (path: string) =>
    pulled.has(path) || path === MANIFEST_FILE || path.endsWith("/.gitkeep");
  const removed = [...present.keys()].filter((path) => !stays(path));
  return { added, changed, removed };
}

interface PullReport {
  readonly options: PullOptions;
  readonly chosen: ChosenProfile;
  readonly target: Target;
  readonly reading: LiveReading;
  readonly pulled: Pulled;
  readonly present: Tree;
  readonly changes: Changes;
}

function report(session: Session, told: PullReport): void {
  const { out } = session;
  const { options, target, reading, pulled, changes } = told;
  const diff = options.diff === true ? diffOf(told) : undefined;
  const { skipped, notInScope, excludedProviders, warnings, manifestIs } = pulled;
  const document = {
    gateway: target.gateway,
    environment: target.environment,
    profile: told.chosen.profile.name,
    live: reading.name,
    dryRun: options.dryRun === true,
    files: pulled.tree.size,
    renderSha256: pulled.rendered.renderSha256,
    manifest: manifestIs,
    ...changes,
    skipped,
    warnings,
    excludedProviders,
    notInScope,
    ...(diff === undefined ? {} : { diff: diff.join("\n") }),
  };
  const { paint } = out;
  out.result(document, () => [
    ...changes.added.map((path) => `${paint.green("+")} ${harmless(path)}`),
    ...changes.changed.map((path) => `${paint.yellow("~")} ${harmless(path)}`),
    ...changes.removed.map((path) => `${paint.red("-")} ${harmless(path)}`),
    ...(diff ?? []).map((line) => diffColour(line, paint)),
    ...skippedLines(session, pulled),
    ...warnings.map((warning) => paint.dim(harmless(warning))),
    ...scopeLines(notInScope, excludedProviders, paint),
    `${options.dryRun === true ? "would write" : "wrote"} ${pulled.tree.size} files from ` +
      `${reading.name}: ${changes.added.length} added, ${changes.changed.length} changed, ` +
      `${changes.removed.length} removed, ${skipped.length} left out; manifest ${manifestIs}`,
  ]);
}

function skippedLines({ out }: Session, { skipped }: Pulled): string[] {
  const { paint } = out;
  return skipped.flatMap(({ path, reason, detail, fix }) => [
    `${paint.yellow("left out")} ${harmless(path)}: ${reason}`,
    `    ${paint.dim(harmless(detail))}`,
    ...(fix === undefined ? [] : [`    ${paint.dim(harmless(`→ ${fix}`))}`]),
  ]);
}

function diffOf({ chosen, pulled, present, changes }: PullReport): string[] {
  const paths = [...changes.added, ...changes.changed, ...changes.removed];
  return paths.flatMap((path) => {
    const older = present.get(path);
    const newer = pulled.tree.get(path);
    return unifiedDiff(chosen.profile, {
      name: path,
      path: collectionPath(chosen.profile, path) ?? path,
      sides: ["repo", "live"],
      ...(older === undefined ? {} : { older }),
      ...(newer === undefined ? {} : { newer }),
    });
  });
}
