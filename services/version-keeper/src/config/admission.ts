import { Mutex, parallel, slice, type Task, type Tasks } from "@ringwall/actor";
import {
  admitTree,
  type Configuration,
  type Finding,
  findInUse,
  POLICY_MODULE,
  PolicyTree,
  refuses,
} from "@ringwall/render";
import { Layer } from "@ringwall/wire";
import type { BlobStore } from "./blob-store.ts";
import type { FileEntry } from "./live-tree.ts";

/** Files whose texts are in memory at the same time before they are parsed. */
const FILES_READ_TOGETHER = 256;

/** Reads that wait for the bus at the same time. */
const READS_AT_ONCE = 32;

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
  readonly #tasks: Tasks;
  readonly #mutex: Mutex;
  readonly #tree = new PolicyTree();
  readonly #loaded = new Map<string, FileEntry>();
  readonly #notText = new Map<string, Finding>();

  constructor(tasks: Tasks, blobs: BlobStore) {
    this.#blobs = blobs;
    this.#tasks = tasks;
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
    const missing: FileEntry[] = [];
    for (const file of files) {
      wanted.add(file.key);
      if (wanted.size % FILES_PER_STEP === 0) {
        yield* slice();
      }
      if (this.#loaded.get(file.key)?.sha256 !== file.sha256) {
        missing.push(file);
      }
    }
    for (let start = 0; start < missing.length; start += FILES_READ_TOGETHER) {
      const some = missing.slice(start, start + FILES_READ_TOGETHER);
      const detail = yield* this.#putAll(some);
      if (detail !== undefined) {
        return detail;
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

  /** Reads files together, then parses them one by one. */
  *#putAll(files: readonly FileEntry[]): Task<string | undefined> {
    const documents = files.filter(isDocument);
    const readings = yield* parallel(this.#tasks, documents, READS_AT_ONCE, ({ sha256 }) =>
      this.#blobs.read(sha256),
    );
    for (const [index, file] of documents.entries()) {
      const reading = readings[index];
      if (reading?.ok !== true) {
        return `blob ${file.sha256} of ${layerName(file)}/${file.path} ${reading?.problem ?? ""}`;
      }
      this.#put(file, decode(reading.bytes));
      yield* slice();
    }
    for (const file of files) {
      if (!isDocument(file)) {
        this.#put(file, "");
      }
    }
    return undefined;
  }

  #put(file: FileEntry, text: string | undefined): void {
    const layer = layerName(file);
    if (text === undefined) {
      const message = "the file is not UTF-8 text; save it as UTF-8";
      const name = `${layer}/${file.path}`;
      this.#notText.set(file.key, { file: name, line: 1, path: "", rule: "yaml", message });
      this.#tree.remove(layer, file.path);
    } else {
      this.#notText.delete(file.key);
      this.#tree.put(layer, file.path, text);
    }
    this.#loaded.set(file.key, file);
  }
}

/** Other files belong to somebody else: they count, and are not read. */
function isDocument(file: FileEntry): boolean {
  return file.path.startsWith(`${POLICY_MODULE}/`);
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
