import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { admitTree, type Configuration, readTree, refuses, type TreeFile } from "@ringwall/render";
import {
  type ConfigCommit,
  type ConfigRecord,
  ConfigRecordSchema,
  type Inputs,
  Layer,
} from "@ringwall/wire";
import { hex, short } from "./hex.ts";
import { Violation } from "./violation.ts";

/** A state of the declared tree. */
export interface TreeState {
  readonly id: string;
  readonly files: ReadonlyMap<string, TreeFile>;
  readonly configuration: Configuration;
}

/**
 * Every commit that CONFIG ever took, in the order in which an operator's word made it the tree. What a
 * loss takes away stays known here: it was declared once.
 */
export class ConfigOracle {
  readonly #blobs = new Map<string, string>();
  readonly #trees = new Map<string, TreeState>();
  /** Order in which states were declared, by generation and commit. */
  readonly #order = new Map<string, number>();
  readonly #declared: TreeState[] = [];
  #head = "";
  #generation = 0n;
  #commits = 0;
  /** How often CONFIG became another log or went back. */
  #lives = 0;

  /** Id of the head commit; empty if there is none. */
  get head(): string {
    return this.#head;
  }

  get generation(): bigint {
    return this.#generation;
  }

  /** Commits that CONFIG holds now. */
  get commits(): number {
    return this.#commits;
  }

  tree(id: string): TreeState | undefined {
    return this.#trees.get(id);
  }

  /** States that were declared at or after a place in the order. */
  declaredFrom(place: number): readonly TreeState[] {
    return this.#declared.slice(Math.max(0, place));
  }

  /** Place in the order of what inputs name; -1 if nobody declared it. */
  placeOf({ generation, commitId }: Inputs): number {
    return this.#order.get(`${generation} ${hex(commitId)}`) ?? -1;
  }

  takeBlob(record: StoredRecord): void {
    const [, , sha256 = ""] = record.subject.split(".");
    this.#blobs.set(sha256, new TextDecoder().decode(record.payload));
  }

  /** Takes a record as it is stored: it must follow the head. */
  take(record: StoredRecord): void {
    const content = fromBinary(ConfigRecordSchema, record.payload);
    const change = content.record;
    // A write that is tried again fits by chance where the log has come to the same sequence in another
    // life; it counts for nobody.
    if (change.case === "commit" && this.#lives === 0 && !this.#follows(change.value)) {
      const parent = hex(change.value.parent);
      const words = `CONFIG ${record.sequence} follows ${short(parent)}, the head is ${short(this.#head)}`;
      throw new Violation("I10", words);
    }
    this.#fold(content);
  }

  /** CONFIG is another one, or went back. */
  regressed(records: Iterable<StoredRecord>): void {
    this.#lives += 1;
    this.#head = "";
    this.#generation = 0n;
    this.#commits = 0;
    for (const record of records) {
      this.#fold(fromBinary(ConfigRecordSchema, record.payload));
    }
  }

  #follows({ parent }: ConfigCommit): boolean {
    return hex(parent) === this.#head;
  }

  #fold({ record: content }: ConfigRecord): void {
    switch (content.case) {
      case "commit":
        if (!this.#follows(content.value)) {
          return;
        }
        this.#raise(content.value.generation);
        this.#commits += 1;
        this.#head = hex(content.value.id);
        this.#addTree(content.value);
        break;
      case "acceptState":
        this.#raise(content.value.generation);
        break;
      default:
        return;
    }
    const tree = this.#trees.get(this.#head);
    const key = `${this.#generation} ${this.#head}`;
    if (tree !== undefined && !this.#order.has(key)) {
      this.#order.set(key, this.#declared.length);
      this.#declared.push(tree);
    }
  }

  #raise(generation: bigint): void {
    if (generation > this.#generation) {
      this.#generation = generation;
    }
  }

  #addTree(commit: ConfigCommit): void {
    const id = hex(commit.id);
    if (this.#trees.has(id)) {
      return;
    }
    const files = new Map(this.#trees.get(hex(commit.parent))?.files);
    for (const { layer, path } of commit.deletes) {
      files.delete(`${layer} ${path}`);
    }
    for (const { layer, path, sha256 } of commit.puts) {
      const text = this.#blobs.get(hex(sha256));
      if (text === undefined) {
        throw new Violation(
          "I10",
          `commit ${short(id)} names a blob of ${path} that nobody stored`,
        );
      }
      const name = layer === Layer.CORE ? "core" : "environment";
      files.set(`${layer} ${path}`, { layer: name, path, text });
    }
    const reading = readTree(files.values());
    const findings = admitTree(reading);
    if (refuses(findings)) {
      const words = findings.map(({ file, message }) => `${file}: ${message}`).join("; ");
      throw new Violation("I4", `commit ${short(id)} holds what admission refuses: ${words}`);
    }
    this.#trees.set(id, { id, files, configuration: reading.configuration });
  }
}
