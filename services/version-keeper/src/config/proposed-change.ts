import { LIMITS } from "@ringwall/render";
import { type FileDelete, type FilePut, Layer } from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { toHex } from "../log/hex.ts";
import { compareBytes } from "./file-order.ts";
import { pathProblem } from "./file-path.ts";
import { type FileEntry, keyOf, type LiveTree, merge, type TreeChange } from "./live-tree.ts";

/** A change that a client asks for, and the tree after it. */
export interface ProposedChange {
  /** Without what the tree says already. */
  readonly change: TreeChange;
  readonly files: readonly FileEntry[];
}

/**
 * Reads what a client wants changed: checks form and limits and leaves out what the tree says
 * already. Throws ApiFailure `invalid` or `too_large`.
 */
export function proposedChange(
  puts: readonly FilePut[],
  deletes: readonly FileDelete[],
  tree: LiveTree,
): ProposedChange {
  const named = new Set<string>();
  const name = (layer: Layer, path: string): string => {
    const key = keyOf(layer, path);
    if (layer !== Layer.CORE && layer !== Layer.ENVIRONMENT) {
      throw new ApiFailure("invalid", `file ${path} has layer ${layer}; write core or environment`);
    }
    const problem = pathProblem(path);
    if (problem !== undefined) {
      throw new ApiFailure("invalid", `file "${path}": ${problem}`);
    }
    if (named.has(key)) {
      throw new ApiFailure("invalid", `file ${path} is named twice in one layer`);
    }
    named.add(key);
    return key;
  };
  const files = puts.map((put) => readPut(put, name(put.layer, put.path)));
  const gone = deletes.map(({ layer, path }) => name(layer, path));
  const change = {
    puts: files
      .filter(({ key, sha256 }) => tree.get(key)?.sha256 !== sha256)
      .sort((a, b) => compareBytes(a.key, b.key)),
    deletes: gone.filter((key) => tree.get(key) !== undefined).sort(compareBytes),
  };
  checkCommitSize(change.puts);
  const after = merge(tree.sorted(), change);
  checkTree(after);
  return { change, files: after };
}

function readPut({ layer, path, sha256, size }: FilePut, key: string): FileEntry {
  if (sha256.length !== 32) {
    const message = `file ${path} has a digest of ${sha256.length} bytes, SHA-256 has 32`;
    throw new ApiFailure("invalid", message);
  }
  if (size > BigInt(LIMITS.treeFileBytes)) {
    const message = `file ${path} has ${size} bytes, allowed are ${LIMITS.treeFileBytes}`;
    throw new ApiFailure("too_large", message);
  }
  return { key, layer, path, sha256: toHex(sha256), size: Number(size) };
}

function checkCommitSize(puts: readonly FileEntry[]): void {
  const bytes = puts.reduce((sum, { size }) => sum + size, 0);
  if (bytes > LIMITS.commitBytes) {
    const message = `the commit has ${bytes} bytes in files, allowed are ${LIMITS.commitBytes}; split it`;
    throw new ApiFailure("too_large", message);
  }
}

function checkTree(files: readonly FileEntry[]): void {
  if (files.length > LIMITS.treeFiles) {
    const message = `the tree would have ${files.length} files, allowed are ${LIMITS.treeFiles}`;
    throw new ApiFailure("too_large", message);
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > LIMITS.treeBytes) {
    const message = `the tree would have ${bytes} bytes, allowed are ${LIMITS.treeBytes}`;
    throw new ApiFailure("too_large", message);
  }
}
