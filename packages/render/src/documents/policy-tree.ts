import { compareBytes } from "@ringwall/labels";
import type { ConfigurationEdits } from "../body-source.ts";
import type { Finding } from "../finding.ts";
import { LIMITS } from "../limits.ts";
import type { Configuration } from "../model.ts";
import { type AssembledConfiguration, assembleConfiguration } from "./assemble.ts";
import { POLICY_MODULE, pathOf, readPath } from "./document.ts";
import { type LocatedDocument, readDocument } from "./read-document.ts";

/** Layer of the live tree; the environment's copy of a unit overrides core's. */
export type LayerName = "core" | "environment";

/** One file of the live tree. */
export interface TreeFile {
  readonly layer: LayerName;
  readonly path: string;
  readonly text: string;
}

/** The effective view of a tree. */
export interface TreeReading extends AssembledConfiguration {
  readonly findings: readonly Finding[];
  /** Names of services and groups whose documents can't be read, so that nobody calls them missing. */
  readonly unreadable: ReadonlySet<string>;
  /** What changed since the reading before; undefined in the first one. */
  readonly edits: ConfigurationEdits | undefined;
}

interface TreeEntry {
  readonly located?: LocatedDocument;
  readonly findings: readonly Finding[];
}

/**
 * The live tree with its documents, kept from commit to commit: only a file that changed is read
 * again. A document's path must be `pathOf` of what it says.
 */
export class PolicyTree {
  readonly #layers: Record<LayerName, Map<string, TreeEntry>> = {
    core: new Map(),
    environment: new Map(),
  };
  /** Configuration of the last reading, and the documents then of paths that were touched since. */
  #last: Configuration | undefined;
  #formers = new Map<string, LocatedDocument | undefined>();

  /** Number of files over both layers. */
  get size(): number {
    return this.#layers.core.size + this.#layers.environment.size;
  }

  /** Adds or replaces a file. Files outside `policy/` belong to somebody else and are kept unread. */
  put(layer: LayerName, path: string, text: string): void {
    this.#touch(path);
    this.#layers[layer].set(path, readEntry(layer, path, text));
  }

  /** Removes a file; an unknown one is fine. */
  remove(layer: LayerName, path: string): void {
    this.#touch(path);
    this.#layers[layer].delete(path);
  }

  /** The effective configuration with the findings of every effective file. */
  effective(): TreeReading {
    const { core, environment } = this.#layers;
    const documents: LocatedDocument[] = [];
    const findings: Finding[] = [];
    const unreadable = new Set<string>();
    for (const [path, entry] of [...environment, ...core]) {
      if (environment.has(path) && environment.get(path) !== entry) {
        continue;
      }
      findings.push(...entry.findings);
      if (entry.located !== undefined) {
        documents.push(entry.located);
      } else if (entry.findings.length > 0) {
        unreadable.add(path);
      }
    }
    if (this.size > LIMITS.treeFiles) {
      const message = `the tree has ${this.size} files, allowed are ${LIMITS.treeFiles}`;
      findings.push({ path: "", rule: "limit", message });
    }
    findings.sort((a, b) => compareBytes(a.file ?? "", b.file ?? ""));
    const assembled = assembleConfiguration(documents);
    const edits = this.#takeEdits(assembled.configuration);
    return { ...assembled, findings, unreadable, edits };
  }

  #touch(path: string): void {
    if (this.#last !== undefined && !this.#formers.has(path)) {
      this.#formers.set(path, this.#documentAt(path));
    }
  }

  #takeEdits(configuration: Configuration): ConfigurationEdits | undefined {
    const since = this.#last;
    const formers = this.#formers;
    this.#last = configuration;
    this.#formers = new Map();
    if (since === undefined) {
      return undefined;
    }
    const before = [...formers.values()].flatMap((located) => located ?? []);
    const after = [...formers.keys()].flatMap((path) => this.#documentAt(path) ?? []);
    return {
      since,
      before: assembleConfiguration(before).configuration,
      after: assembleConfiguration(after).configuration,
    };
  }

  /** The effective document at a path. */
  #documentAt(path: string): LocatedDocument | undefined {
    const { core, environment } = this.#layers;
    return (environment.get(path) ?? core.get(path))?.located;
  }
}

/** Reads all files of a tree at once: the effective configuration and every finding. */
export function readTree(files: Iterable<TreeFile>): TreeReading {
  const tree = new PolicyTree();
  for (const file of files) {
    tree.put(file.layer, file.path, file.text);
  }
  return tree.effective();
}

function readEntry(layer: LayerName, path: string, text: string): TreeEntry {
  const file = `${layer}/${path}`;
  const refuse = (rule: "path" | "path-kind", line: number, message: string): TreeEntry => ({
    findings: [{ file, line, path: "", rule, message }],
  });
  if (!path.startsWith(`${POLICY_MODULE}/`)) {
    return { findings: [] };
  }
  const place = readPath(path);
  if (place === undefined) {
    const wanted = `${POLICY_MODULE}/<type>/<name>/<type>.yaml`;
    return refuse("path", 1, `no document belongs at ${path}; paths are ${wanted}`);
  }
  const { located, findings } = readDocument(text, file);
  if (located === undefined) {
    return { findings };
  }
  const right = pathOf(located.document);
  if (right === path) {
    return { located, findings };
  }
  const line = located.lines.get("name") ?? 1;
  const { kind } = located.document;
  return refuse("path-kind", line, `this ${kind} belongs at ${right}, not at ${path}`);
}
