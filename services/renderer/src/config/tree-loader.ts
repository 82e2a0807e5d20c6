import { EffectFailed, signalled, slice, type Task } from "@ringwall/actor";
import {
  admitTree,
  type Configuration,
  type ConfigurationEdits,
  type Finding,
  POLICY_MODULE,
  PolicyTree,
  refuses,
} from "@ringwall/render";
import type { Context } from "../context.ts";
import { readBlob } from "./blobs.ts";
import type { LiveFile } from "./config-fold.ts";

/** Blobs that are read at the same time. */
const READERS = 16;

/** Files compared between two turns of the mailbox. */
const FILES_PER_SLICE = 20_000;

/** The configuration of a tree, with what it edits in the one that was loaded before. */
export interface LoadedConfiguration {
  readonly configuration: Configuration;
  readonly edits: ConfigurationEdits | undefined;
}

/** A live tree: its configuration, or why nothing may be rendered from it. */
export type TreeLoading =
  | LoadedConfiguration
  /** `again` if it may be read another time, without a new commit. */
  | { readonly problem: string; readonly again: boolean };

/**
 * Turns the files of the live tree into a configuration. Documents stay read from commit to commit,
 * so that only files that changed are fetched and parsed.
 */
export class TreeLoader {
  readonly #context: Context;
  readonly #tree = new PolicyTree();
  /** Digest of every file that the tree holds. */
  readonly #loaded = new Map<string, string>();
  #loads = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Loads and admits the tree; a problem says why the head can't be read or admitted. */
  *load(files: ReadonlyMap<string, LiveFile>): Task<TreeLoading> {
    const wanted = [...files].filter(([, { path }]) => path.startsWith(`${POLICY_MODULE}/`));
    yield* this.#forget(files);
    const changed = wanted.filter(([key, { sha256 }]) => this.#loaded.get(key) !== sha256);
    const problem = yield* this.#fetch(changed);
    if (problem !== undefined) {
      return { problem, again: true };
    }
    yield* slice();
    const reading = this.#tree.effective();
    yield* slice();
    const findings = admitTree(reading);
    return refuses(findings)
      ? { problem: refusalText(findings), again: false }
      : { configuration: reading.configuration, edits: reading.edits };
  }

  *#forget(files: ReadonlyMap<string, LiveFile>): Task<void> {
    let looked = 0;
    for (const key of [...this.#loaded.keys()]) {
      if (!files.has(key)) {
        const slash = key.indexOf("/");
        const layer = key.slice(0, slash) === "core" ? "core" : "environment";
        this.#tree.remove(layer, key.slice(slash + 1));
        this.#loaded.delete(key);
      }
      looked += 1;
      if (looked % FILES_PER_SLICE === 0) {
        yield* slice();
      }
    }
  }

  /** Reads files with several readers at once; the first problem, after all have ended. */
  *#fetch(changed: readonly (readonly [string, LiveFile])[]): Task<string | undefined> {
    this.#loads += 1;
    const signal = `load.${this.#loads}`;
    const queue = [...changed];
    let running = Math.min(READERS, queue.length);
    let problem: string | undefined;
    const { tasks } = this.#context;
    const read = function* (this: TreeLoader): Task<void> {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const found = yield* this.#put(...next);
        // Another reader may have met a problem meanwhile; it stands.
        problem ??= found;
        if (problem !== undefined) {
          break;
        }
      }
      running -= 1;
      tasks.signal(signal);
    };
    for (let reader = running; reader > 0; reader -= 1) {
      tasks.start(read.call(this));
    }
    while (running > 0) {
      yield* signalled(signal, 60_000);
    }
    return problem;
  }

  *#put(key: string, { layer, path, sha256 }: LiveFile): Task<string | undefined> {
    try {
      const reading = yield* readBlob(this.#context.names, sha256);
      if ("problem" in reading) {
        return `${key} can't be read: ${reading.problem}`;
      }
      const text = decode(reading.bytes);
      if (text === undefined) {
        return `${key} is not UTF-8 text`;
      }
      this.#tree.put(layer, path, text);
      this.#loaded.set(key, sha256);
      return undefined;
    } catch (error) {
      if (error instanceof EffectFailed) {
        return `${key} can't be read: ${error.message}`;
      }
      throw error;
    }
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function refusalText(findings: readonly Finding[]): string {
  const refusing = findings.filter(({ warning }) => warning !== true);
  const [first] = refusing;
  const more = refusing.length > 1 ? ` (and ${refusing.length - 1} more)` : "";
  return `${first?.file}:${first?.line} ${first?.path}: ${first?.message} [${first?.rule}]${more}`;
}
