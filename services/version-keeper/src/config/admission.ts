import {
  admitTree,
  type Configuration,
  type Finding,
  findInUse,
  PolicyTree,
  refuses,
} from "@ringwall/render";
import { Layer } from "@ringwall/wire";
import { Mutex } from "../tasks/mutex.ts";
import { slice, type Task } from "../tasks/task.ts";
import type { Tasks } from "../tasks/tasks.ts";
import type { BlobStore } from "./blob-store.ts";
import type { FileEntry } from "./live-tree.ts";

/** Text that is parsed in one step: a few milliseconds of work. */
const BYTES_PER_STEP = 16 * 1024;

/** Files compared in one step. */
const FILES_PER_STEP = 20_000;

/** What admission says of a tree. */
export type AdmissionResult =
  | {
      readonly kind: "admitted";
      readonly configuration: Configuration;
      readonly warnings: readonly Finding[];
    }
  | { readonly kind: "refused"; readonly findings: readonly Finding[] }
  /** A file can't be had. */
  | { readonly kind: "unreadable"; readonly detail: string };

/**
 * Admits whole trees. The documents of the last tree stay parsed, so that only files that differ are
 * read again; which tree that was makes no difference to the result.
 */
export class Admission {
  readonly #blobs: BlobStore;
  readonly #mutex: Mutex;
  readonly #tree = new PolicyTree();
  readonly #loaded = new Map<string, FileEntry>();
  readonly #notText = new Map<string, Finding>();

  constructor(tasks: Tasks, blobs: BlobStore) {
    this.#blobs = blobs;
    this.#mutex = new Mutex(tasks, "admission");
  }

  /**
   * Admits a tree; `files` are in tree order. With the configuration `before` it, names that were
   * taken away under their users are found too. Throws EffectFailed when the bus does not answer.
   */
  check(files: readonly FileEntry[], before?: Configuration): Task<AdmissionResult> {
    return this.#mutex.hold(() => this.#check(files, before));
  }

  *#check(files: readonly FileEntry[], before?: Configuration): Task<AdmissionResult> {
    const detail = yield* this.#load(files);
    if (detail !== undefined) {
      return { kind: "unreadable", detail };
    }
    yield* slice();
    const tree = this.#tree.effective();
    const { configuration } = tree;
    const findings = [...this.#notText.values(), ...admitTree(tree)];
    if (before !== undefined) {
      findings.push(...findInUse(before, configuration));
    }
    return refuses(findings)
      ? { kind: "refused", findings }
      : { kind: "admitted", configuration, warnings: findings };
  }

  *#load(files: readonly FileEntry[]): Task<string | undefined> {
    const wanted = new Set<string>();
    let compared = 0;
    let bytes = 0;
    for (const file of files) {
      wanted.add(file.key);
      compared += 1;
      if (compared % FILES_PER_STEP === 0) {
        yield* slice();
      }
      if (this.#loaded.get(file.key)?.sha256 === file.sha256) {
        continue;
      }
      const detail = yield* this.#put(file);
      if (detail !== undefined) {
        return detail;
      }
      bytes += file.size;
      if (bytes >= BYTES_PER_STEP) {
        bytes = 0;
        yield* slice();
      }
    }
    for (const [key, file] of this.#loaded) {
      if (!wanted.has(key)) {
        this.#tree.remove(layerName(file), file.path);
        this.#loaded.delete(key);
        this.#notText.delete(key);
      }
    }
    return undefined;
  }

  *#put(file: FileEntry): Task<string | undefined> {
    const name = `${layerName(file)}/${file.path}`;
    let text: string | undefined = "";
    this.#notText.delete(file.key);
    if (file.path.startsWith("policy/")) {
      const reading = yield* this.#blobs.read(file.sha256);
      if (!reading.ok) {
        return `blob ${file.sha256} of ${name} ${reading.problem}`;
      }
      text = decode(reading.bytes);
      if (text === undefined) {
        const message = "the file is not UTF-8 text; save it as UTF-8";
        this.#notText.set(file.key, { file: name, line: 1, path: "", rule: "yaml", message });
      }
    }
    if (text === undefined) {
      this.#tree.remove(layerName(file), file.path);
    } else {
      this.#tree.put(layerName(file), file.path, text);
    }
    this.#loaded.set(file.key, file);
    return undefined;
  }
}

/** Layer of a file as findings name it. */
export function layerName(file: Pick<FileEntry, "layer">): "core" | "environment" {
  return file.layer === Layer.CORE ? "core" : "environment";
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
