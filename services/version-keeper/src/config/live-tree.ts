import type { Layer } from "@ringwall/wire";
import { compareBytes } from "./file-order.ts";

/** One file of the live tree. */
export interface FileEntry {
  /** `<layer number>/<path>`: unique in a tree, and its order is the tree's. */
  readonly key: string;
  readonly layer: Layer;
  readonly path: string;
  /** Hex digits. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/** What a commit does to the tree: distinct files in tree order. */
export interface TreeChange {
  readonly puts: readonly FileEntry[];
  /** Keys of files. */
  readonly deletes: readonly string[];
}

/** Names a file of a layer. */
export function keyOf(layer: Layer, path: string): string {
  return `${layer}/${path}`;
}

/** The files of the live tree at the head, kept in order once somebody asked for the order. */
export class LiveTree {
  readonly #files = new Map<string, FileEntry>();
  #sorted: readonly FileEntry[] | undefined;

  get(key: string): FileEntry | undefined {
    return this.#files.get(key);
  }

  get size(): number {
    return this.#files.size;
  }

  /** Puts and deletes files; deleting an unknown one is fine. */
  apply(change: TreeChange): void {
    const sorted = this.#sorted;
    this.#sorted = sorted === undefined ? undefined : merge(sorted, change);
    for (const key of change.deletes) {
      this.#files.delete(key);
    }
    for (const file of change.puts) {
      this.#files.set(file.key, file);
    }
  }

  /** Every file in tree order. The list is never changed afterwards. */
  sorted(): readonly FileEntry[] {
    this.#sorted ??= [...this.#files.values()].sort((a, b) => compareBytes(a.key, b.key));
    return this.#sorted;
  }
}

/** The files after a change, in order; both sides are sorted already. */
export function merge(files: readonly FileEntry[], change: TreeChange): readonly FileEntry[] {
  const gone = new Set(change.deletes);
  const result: FileEntry[] = [];
  let next = 0;
  for (const file of files) {
    let replaced = false;
    for (; next < change.puts.length; next += 1) {
      const put = change.puts[next];
      const order = put === undefined ? 1 : compareBytes(put.key, file.key);
      if (put === undefined || order > 0) {
        break;
      }
      result.push(put);
      replaced = replaced || order === 0;
    }
    if (!replaced && !gone.has(file.key)) {
      result.push(file);
    }
  }
  return result.concat(change.puts.slice(next));
}
