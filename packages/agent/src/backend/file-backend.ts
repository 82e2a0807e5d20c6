import { readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { bodyDigest, type Canonical } from "@ringwall/rendered";
import type { BodyDigest, WorkloadPolicy } from "@ringwall/wire";
import { AgentError } from "../errors.ts";
import { type CompileOptions, compileNftables } from "../nftables/compile.ts";
import { replaceFile } from "../store/durable-file.ts";
import type { BackendResult, CounterReading, DriftReport, EnforcementBackend } from "./backend.ts";
import type { NftChecker } from "./nft-check.ts";

/** Options of the file backend. */
export interface FileBackendOptions {
  /** File that receives the script; its check result goes to `<path>.check`. */
  readonly path: string;
  /** Compiler options. */
  readonly compile: CompileOptions;
  /** Checks the script where nft is there; absent: not checked. */
  readonly checker?: NftChecker;
}

const DIGEST_LINE = /^# body ([0-9a-f]{64})$/m;

/**
 * Writes the nft script that it would load, and what nft says about it. Nothing reaches the kernel:
 * for laptops, and for looking before enforcing.
 */
export class FileBackend implements EnforcementBackend {
  readonly name = "file";
  readonly #options: FileBackendOptions;
  #compiled: { readonly policy: Canonical<WorkloadPolicy>; readonly script: string } | undefined;
  #checked: { readonly script: string; readonly words: string } | undefined;

  constructor(options: FileBackendOptions) {
    this.#options = options;
  }

  async check(policy: Canonical<WorkloadPolicy>): Promise<BackendResult> {
    let script: string;
    try {
      script = this.#script(policy);
    } catch (thrown) {
      if (thrown instanceof AgentError && thrown.code === "policy-not-expressible") {
        return { ok: false, detail: thrown.message };
      }
      throw thrown;
    }
    const result = (await this.#options.checker?.check(script)) ?? { unavailable: "not asked for" };
    if ("unavailable" in result) {
      this.#checked = { script, words: `not checked: ${result.unavailable}` };
      return { ok: true, detail: this.#checked.words };
    }
    this.#checked = { script, words: result.ok ? "accepted by nft -c" : result.detail };
    return result;
  }

  async install(policy: Canonical<WorkloadPolicy>): Promise<BackendResult> {
    const script = this.#script(policy);
    const words = this.#checked?.script === script ? this.#checked.words : "not checked";
    try {
      await replaceFile(this.#options.path, Buffer.from(script, "utf8"));
      await replaceFile(`${this.#options.path}.check`, Buffer.from(`${words}\n`, "utf8"));
    } catch (thrown) {
      throw new AgentError(
        "backend-unavailable",
        `script can't be written to ${dirname(this.#options.path)}: ${String(thrown)}`,
        { cause: thrown },
      );
    }
    return { ok: true, detail: words };
  }

  async current(): Promise<BodyDigest | undefined> {
    const text = await this.#read();
    const digest = text === undefined ? undefined : DIGEST_LINE.exec(text)?.[1];
    // The pattern admits exactly the text form of a body digest.
    return digest as BodyDigest | undefined;
  }

  async remove(): Promise<void> {
    await rm(this.#options.path, { force: true });
    await rm(`${this.#options.path}.check`, { force: true });
  }

  counters(): Promise<CounterReading | undefined> {
    return Promise.resolve(undefined);
  }

  async drift(expected: Canonical<WorkloadPolicy>): Promise<DriftReport> {
    if ((await this.#read()) === this.#script(expected)) {
      return { repaired: 0, detail: "" };
    }
    await this.install(expected);
    return { repaired: 1, detail: `${this.#options.path} differed from the policy in force` };
  }

  async #read(): Promise<string | undefined> {
    try {
      return await readFile(this.#options.path, "utf8");
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") {
        return undefined;
      }
      throw AgentError.from(thrown, "backend-unavailable");
    }
  }

  #script(policy: Canonical<WorkloadPolicy>): string {
    if (this.#compiled?.policy !== policy) {
      const header = `# body ${bodyDigest(policy)}\n`;
      const script = header + compileNftables(policy, this.#options.compile);
      this.#compiled = { policy, script };
    }
    return this.#compiled.script;
  }
}
