import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BodyDigest } from "@ringwall/wire";
import { AgentError } from "../errors.ts";
import type { PolicyRecord } from "../record.ts";
import { commitFile, prepareFile, replaceFile } from "./durable-file.ts";
import {
  decodePolicyFile,
  decodeRefusedFile,
  encodePolicyFile,
  encodeRefusedFile,
} from "./policy-file.ts";
import type { PolicyStore, StoredState } from "./policy-store.ts";

const LAST = "policy";
const BEFORE = "policy.before";
const REFUSED = "refused";

/**
 * Policies in a directory: `policy` is the last good one, `policy.before` the one before,
 * `refused` the bodies that the host could not install. Written through a synced temporary file,
 * a rename and a sync of the directory.
 */
export class FileStore implements PolicyStore {
  readonly #workload: string;
  readonly #directory: string;
  #lastDamaged = false;

  constructor(workload: string, directory: string) {
    this.#workload = workload;
    this.#directory = directory;
  }

  async probe(): Promise<void> {
    await this.#writing(async () => {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      const path = this.#path("probe");
      await prepareFile(path, Buffer.from(this.#workload, "utf8"));
      await rm(`${path}.tmp`);
    });
  }

  async load(): Promise<StoredState> {
    const faults: string[] = [];
    const refused = await this.#loadRefused(faults);
    const known = faults.length;
    const last = await this.#loadPolicy(LAST, faults);
    this.#lastDamaged = faults.length > known;
    if (last !== undefined) {
      return { record: last, refused, faults };
    }
    const before = await this.#loadPolicy(BEFORE, faults);
    if (before !== undefined) {
      faults.push(`version ${before.policy.version} of ${this.#path(BEFORE)} is used instead`);
    } else if (faults.length > 0) {
      faults.push("no stored policy can be used; the host is left as it is");
    }
    return { record: before, refused, faults };
  }

  async prepare(record: PolicyRecord): Promise<void> {
    await this.#writing(() => prepareFile(this.#path(LAST), encodePolicyFile(record)));
  }

  async commit(): Promise<void> {
    // A damaged file must not take the place of the good one before it.
    const keepAs = this.#lastDamaged ? undefined : this.#path(BEFORE);
    await this.#writing(() => commitFile(this.#path(LAST), keepAs));
    this.#lastDamaged = false;
  }

  async saveRefused(refused: readonly BodyDigest[]): Promise<void> {
    await this.#writing(() => replaceFile(this.#path(REFUSED), encodeRefusedFile(refused)));
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  async #loadPolicy(name: string, faults: string[]): Promise<PolicyRecord | undefined> {
    const bytes = await this.#read(name, faults);
    if (bytes === undefined) {
      return undefined;
    }
    const read = decodePolicyFile(this.#workload, bytes);
    if (!read.ok) {
      faults.push(`${this.#path(name)} is damaged: ${read.why}`);
      return undefined;
    }
    return read.record;
  }

  async #loadRefused(faults: string[]): Promise<readonly BodyDigest[]> {
    const bytes = await this.#read(REFUSED, faults);
    if (bytes === undefined) {
      return [];
    }
    const read = decodeRefusedFile(bytes);
    if ("why" in read) {
      faults.push(`${this.#path(REFUSED)} is damaged: ${read.why}; no body counts as refused`);
      return [];
    }
    return read;
  }

  async #read(name: string, faults: string[]): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#path(name));
    } catch (thrown) {
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT")) {
        faults.push(`${this.#path(name)} can't be read: ${String(thrown)}`);
      }
      return undefined;
    }
  }

  async #writing(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw new AgentError(
        "store-unwritable",
        `state directory ${this.#directory} can't be written (${why}); give the agent room and leave to write there`,
        { cause: thrown },
      );
    }
  }
}
