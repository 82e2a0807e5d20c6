import type { SourcePatch } from "./patch-sources.ts";

/**
 * Fewer partitions: every path is the same, and a run takes a fraction of the messages that 64 slots of
 * each service ask for.
 */
export function partitionsPatch(partitions: number): SourcePatch {
  return {
    file: "packages/bus/src/names.ts",
    find: "export const PARTITIONS = 64;",
    replace: `export const PARTITIONS: number = ${partitions};`,
  };
}

/** Reads each document once for all services of all seeds: the same text is the same document. */
export const READ_ONCE: SourcePatch = {
  file: "packages/render/src/documents/policy-tree.ts",
  find: "function readEntry(layer: LayerName, path: string, text: string): TreeEntry {",
  replace: `const entries = new Map<string, TreeEntry>();

function readEntry(layer: LayerName, path: string, text: string): TreeEntry {
  const key = layer + " " + path + " " + text;
  const entry = entries.get(key) ?? readAnew(layer, path, text);
  entries.set(key, entry);
  return entry;
}

function readAnew(layer: LayerName, path: string, text: string): TreeEntry {`,
};
