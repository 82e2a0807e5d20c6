import { Content, type Ledger, type LiveTrees, layeredTree, readLedger } from "@ringwall/declared";
import { DataDirectoryReader } from "@ringwall/declared/fs";
import type { CommitSummary } from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { getBlob } from "../live/blobs.ts";
import { commitsNewestFirst, idOf } from "../live/commits.ts";
import { type ConfigTree, readConfigTree, readContents } from "../live/config-tree.ts";
import { hex, shortHex } from "../live/hex.ts";
import type { Operator } from "../live/operator.ts";
import type { Session } from "../session.ts";
import { asCliError } from "./failure.ts";
import type { ChosenProfile } from "./options.ts";
import { Progress } from "./progress.ts";

/** The live side at one moment. There is no way to write in it. */
export interface LiveReading {
  readonly live: LiveTrees;
  readonly ledger?: Ledger;
  /** As people name it: a commit, or a data directory. */
  readonly name: string;
  /** Set where the live side is a control plane. */
  readonly config?: ConfigTree;
  /** Set where the live side is a data directory. */
  readonly fingerprint?: string;
}

type Contents = ReadonlyMap<string, Content>;

/** Reads the live side of a profile; files that `known` holds by their digest are not read. */
export async function readLive(
  session: Session,
  chosen: ChosenProfile,
  environment: string,
  known: Contents,
): Promise<LiveReading> {
  if (chosen.kind === "ringwall") {
    const operator = await session.operator();
    const config = await readConfigTree(operator);
    checkEnvironment(config, environment);
    return readCommit(session, config, known);
  }
  const progress = new Progress(session);
  const { dataDirectory } = chosen;
  const reader = new DataDirectoryReader(dataDirectory, environment);
  const reading = await asCliError("", () =>
    reader.read((files) => progress.show("reading the live side", files)),
  );
  progress.clear();
  return { ...reading, name: dataDirectory };
}

/** Reads the files and the ledger of a commit. */
export async function readCommit(
  session: Session,
  config: ConfigTree,
  known: Contents,
): Promise<LiveReading> {
  const operator = await session.operator();
  const progress = new Progress(session);
  const live = await readContents(operator, config.files, known, (read, all) =>
    progress.show("reading the live side", read, all),
  );
  const ledger = await readCommitLedger(operator, config);
  progress.clear();
  return {
    live,
    config,
    name: config.commit === undefined ? "no commit yet" : commitName(config.commit),
    ...(ledger === undefined ? {} : { ledger }),
  };
}

async function readCommitLedger(
  operator: Operator,
  { ledgerSha256 }: ConfigTree,
): Promise<Ledger | undefined> {
  if (ledgerSha256.length === 0) return undefined;
  const bytes = await getBlob(operator, ledgerSha256);
  return asCliError("", () => readLedger(new Content(bytes)));
}

function checkEnvironment({ environment }: ConfigTree, wanted: string): void {
  if (environment === "" || environment === wanted) return;
  throw new CliError(
    "refused",
    `this control plane serves environment "${environment}", not "${wanted}"`,
    { hint: "name another control plane with --nats-url or --prefix, or another --env" },
  );
}

/** A commit as people name it. */
export function commitName(commit: CommitSummary): string {
  return `commit ${commit.inputs?.configSequence ?? 0n} (${shortHex(idOf(commit))})`;
}

/** What the live side was right after the last time a declared tree was applied. */
export interface LastApply {
  readonly commit: CommitSummary;
  /** Digest of every file, by `<layer>/<path>`. */
  readonly files: ReadonlyMap<string, string>;
  /** Commits after it, newest first. */
  readonly since: readonly CommitSummary[];
}

/**
 * Finds the commit that the ledger belongs to: the one that followed the commit that its run is
 * named after. Undefined if there is none.
 */
export async function readLastApply(
  operator: Operator,
  ledger: Ledger | undefined,
): Promise<LastApply | undefined> {
  if (ledger === undefined) return undefined;
  const since: CommitSummary[] = [];
  let commit: CommitSummary | undefined;
  let isFound = ledger.runId === FIRST_RUN;
  for await (const older of commitsNewestFirst(operator)) {
    if (hex(idOf(older)) === ledger.runId) {
      isFound = true;
      break;
    }
    if (commit !== undefined) since.push(commit);
    commit = older;
  }
  if (commit === undefined || !isFound) return undefined;
  const { files } = await readConfigTree(operator, idOf(commit));
  const digests = files.map(
    ({ layer, path, sha256 }) => [`${layer}/${path}`, hex(sha256)] as const,
  );
  return { commit, files: new Map(digests), since };
}

/** Name of the run that made the first commit. */
const FIRST_RUN = "first";

/** Name of the run that applies on top of a commit; its ledger finds the commit by it. */
export function runIdAfter(commit: CommitSummary | undefined): string {
  return commit === undefined ? FIRST_RUN : hex(idOf(commit));
}

/** Digest of every file of a rendered tree, named as in a ledger. */
export function digestsOf(layers: LiveTrees, keepsLayers: boolean): ReadonlyMap<string, string> {
  const tree = keepsLayers ? layeredTree(layers) : layers.environment;
  return new Map([...tree].map(([path, content]) => [path, content.sha256]));
}
