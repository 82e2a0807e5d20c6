import type { LayerName } from "@ringwall/render";
import {
  type AcceptState,
  type ConfigCommit,
  type FileDelete,
  type FilePut,
  Layer,
} from "@ringwall/wire";
import { toHex } from "../context.ts";

/** One file of the live tree. */
export interface LiveFile {
  readonly layer: LayerName;
  readonly path: string;
  /** Hex digits. */
  readonly sha256: string;
}

/** The commit at the head. */
export interface HeadCommit {
  /** Hex digits. */
  readonly id: string;
  readonly sequence: number;
}

/** What a commit changes. */
export interface ConfigChange {
  readonly puts: readonly FilePut[];
  readonly deletes: readonly FileDelete[];
}

/** The configuration log folded up: the files of the live tree at the head. */
export class ConfigFold {
  readonly files = new Map<string, LiveFile>();
  readonly #ids = new Map<number, string>();
  readonly #overruled = new Set<string>();
  #head: HeadCommit | undefined;
  #generation = 0n;
  #environment = "";

  get head(): HeadCommit | undefined {
    return this.#head;
  }

  /** Unix milliseconds of the first commit, raised by accepted states; 0 without a commit. */
  get generation(): bigint {
    return this.#generation;
  }

  /** Environment named by the first commit. */
  get environment(): string {
    return this.#environment;
  }

  /** True if CONFIG has this commit at this sequence, or an accepted state overrules it. */
  knows(sequence: number, id: string): boolean {
    return this.#ids.get(sequence) === id || this.#overruled.has(`${sequence}:${id}`);
  }

  /** True if a commit follows the head. One that does not counts for nothing: it lost its race. */
  isNext({ parent }: ConfigCommit): boolean {
    return toHex(parent) === (this.#head?.id ?? "");
  }

  /** Folds a commit that follows the head. */
  commit(sequence: number, commit: ConfigCommit, change: ConfigChange): void {
    if (this.#head === undefined) {
      this.#environment = commit.environment;
    }
    this.#raise(commit.generation);
    for (const { layer, path } of change.deletes) {
      this.files.delete(fileKey(layer, path));
    }
    for (const { layer, path, sha256 } of change.puts) {
      const file = { layer: layerName(layer), path, sha256: toHex(sha256) };
      this.files.set(fileKey(layer, path), file);
    }
    const id = toHex(commit.id);
    this.#ids.set(sequence, id);
    this.#head = { id, sequence };
  }

  /** Folds an operator's acceptance of the present state. */
  accept({ generation, overruled }: AcceptState): void {
    this.#raise(generation);
    for (const { configSequence, commitId } of overruled) {
      this.#overruled.add(`${configSequence}:${toHex(commitId)}`);
    }
  }

  #raise(generation: bigint): void {
    if (generation > this.#generation) {
      this.#generation = generation;
    }
  }
}

function layerName(layer: Layer): LayerName {
  return layer === Layer.CORE ? "core" : "environment";
}

function fileKey(layer: Layer, path: string): string {
  return `${layerName(layer)}/${path}`;
}
