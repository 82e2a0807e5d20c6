import { type Configuration, type Finding, readTree } from "@ringwall/render";
import {
  type CommitSummary,
  type FilePut,
  GetTreeRequestSchema,
  GetTreeResponseSchema,
  Layer,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import type { LayerName } from "../input/find-files.ts";
import { getBlob, mapParallel } from "./blobs.ts";
import { hex } from "./hex.ts";
import { accepted, type Operator } from "./operator.ts";

/** One file of the live tree. */
export interface LiveFile {
  readonly layer: LayerName;
  readonly path: string;
  readonly sha256: Uint8Array;
  readonly size: number;
}

/** The live tree at its head: the list of its files, not their bytes. */
export interface LiveTree {
  /** Undefined while CONFIG has no commit. */
  readonly head: CommitSummary | undefined;
  /** Environment that the control plane serves; empty if it does not say. */
  readonly environment: string;
  readonly files: readonly LiveFile[];
}

const PAGES_LIMIT = 1_000;

/** The layer as the wire names it. */
export function wireLayer(layer: LayerName): Layer {
  return layer === "core" ? Layer.CORE : Layer.ENVIRONMENT;
}

/** The layer as people name it. */
export function layerName(layer: Layer): LayerName {
  return layer === Layer.CORE ? "core" : "environment";
}

function liveFile(file: FilePut): LiveFile {
  return {
    layer: layerName(file.layer),
    path: file.path,
    sha256: file.sha256,
    size: Number(file.size),
  };
}

/** Reads the list of files at the head, all pages from one commit. */
export async function readLiveTree(operator: Operator): Promise<LiveTree> {
  const files: LiveFile[] = [];
  let commitId: Uint8Array = new Uint8Array();
  let after = "";
  for (let page = 0; page < PAGES_LIMIT; page += 1) {
    const answer = accepted(
      "config.tree",
      await operator.call("config.tree", GetTreeRequestSchema, GetTreeResponseSchema, {
        commitId,
        after,
      }),
    );
    files.push(...answer.files.map(liveFile));
    const last = answer.files.at(-1);
    if (!answer.more || last === undefined) {
      return { head: answer.commit, environment: answer.environment, files };
    }
    commitId = answer.commit?.inputs?.commitId ?? commitId;
    after = `${last.layer}/${last.path}`;
  }
  throw new CliError("transport", `the live tree did not end within ${PAGES_LIMIT} pages`);
}

/** Reads the text of files of the live tree; equal files are read once. */
export async function readTexts(
  operator: Operator,
  files: readonly LiveFile[],
): Promise<{ layer: LayerName; path: string; text: string }[]> {
  const digests = new Map(files.map((file) => [hex(file.sha256), file.sha256]));
  const texts = new Map<string, string>();
  await mapParallel([...digests], async ([name, digest]) => {
    texts.set(name, Buffer.from(await getBlob(operator, digest)).toString("utf8"));
  });
  return files.map(({ layer, path, sha256 }) => ({
    layer,
    path,
    text: texts.get(hex(sha256)) ?? "",
  }));
}

function headId(tree: LiveTree): string {
  return hex(tree.head?.inputs?.commitId ?? new Uint8Array());
}

/** The configuration in force, with the tree that it was read from. */
export interface LiveConfiguration {
  readonly tree: LiveTree;
  readonly configuration: Configuration;
  /** Findings of documents that an admitted tree can't have unless it was written by another build. */
  readonly findings: readonly Finding[];
}

/** Reads the effective configuration at the head; `known` is given back while it is the head. */
export async function readConfiguration(
  operator: Operator,
  known?: LiveConfiguration,
): Promise<LiveConfiguration> {
  const tree = await readLiveTree(operator);
  if (known !== undefined && headId(tree) === headId(known.tree)) return known;
  const { configuration, findings } = readTree(await readTexts(operator, tree.files));
  return { tree, configuration, findings };
}
