import { Content, type LiveTrees, orderedTree } from "@ringwall/declared";
import {
  type CommitSummary,
  GetTreeRequestSchema,
  type GetTreeResponse,
  GetTreeResponseSchema,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { getBlob, mapParallel } from "./blobs.ts";
import { hex } from "./hex.ts";
import { accepted, type Operator } from "./operator.ts";
import { type LiveFile, layerName } from "./tree.ts";

/** The live tree at one commit: the list of its files, not their bytes. */
export interface ConfigTree {
  /** Undefined while CONFIG has no commit. */
  readonly commit: CommitSummary | undefined;
  /** Environment that the control plane serves; empty if it does not say. */
  readonly environment: string;
  readonly files: readonly LiveFile[];
  /** SHA-256 of the ledger; empty when there is none. */
  readonly ledgerSha256: Uint8Array;
}

const PAGES_LIMIT = 1_000;
const HEAD = new Uint8Array();

/** Reads the list of files at a commit, at the head without one; all pages are of one commit. */
export async function readConfigTree(
  operator: Operator,
  commit: Uint8Array = HEAD,
): Promise<ConfigTree> {
  const files: LiveFile[] = [];
  let commitId = commit;
  let after = "";
  for (let page = 0; page < PAGES_LIMIT; page += 1) {
    const answer: GetTreeResponse = accepted(
      "config.tree",
      await operator.call("config.tree", GetTreeRequestSchema, GetTreeResponseSchema, {
        commitId,
        after,
      }),
    );
    for (const { layer, path, sha256, size } of answer.files) {
      files.push({ layer: layerName(layer), path, sha256, size: Number(size) });
    }
    const last = answer.files.at(-1);
    if (!answer.more || last === undefined) {
      const { environment, ledgerSha256 } = answer;
      return { commit: answer.commit, environment, files, ledgerSha256 };
    }
    commitId = answer.commit?.inputs?.commitId ?? commitId;
    after = `${last.layer}/${last.path}`;
  }
  throw new CliError("transport", `the live tree did not end within ${PAGES_LIMIT} pages`);
}

/** Hears how many files were read, and of how many. */
export type ObserveFiles = (read: number, all: number) => void;

/**
 * Reads the bytes of files; equal files are read once, and those that `known` holds by their digest
 * are not read at all.
 */
export async function readContents(
  operator: Operator,
  files: readonly LiveFile[],
  known: ReadonlyMap<string, Content>,
  observe?: ObserveFiles,
): Promise<LiveTrees> {
  const contents = new Map(known);
  const missing = new Map<string, Uint8Array>();
  for (const { sha256 } of files) {
    const name = hex(sha256);
    if (!contents.has(name)) missing.set(name, sha256);
  }
  let read = 0;
  await mapParallel([...missing], async ([name, digest]) => {
    contents.set(name, new Content(await getBlob(operator, digest)));
    read += 1;
    observe?.(read, missing.size);
  });
  const layers = { core: new Map<string, Content>(), environment: new Map<string, Content>() };
  for (const { layer, path, sha256 } of files) {
    const content = contents.get(hex(sha256));
    if (content !== undefined) layers[layer].set(path, content);
  }
  return { core: orderedTree(layers.core), environment: orderedTree(layers.environment) };
}
