import { mkdir, readFile, rm } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { bodyDigest, type Canonical } from "@ringwall/rendered";
import type { BodyDigest, WorkloadPolicy } from "@ringwall/wire";
import { AgentError } from "../errors.ts";
import { differences, sameRules } from "../nftables/compare.ts";
import { type CompileOptions, compileRuleset } from "../nftables/compile.ts";
import { DENIED_LISTINGS, readDenied } from "../nftables/denied.ts";
import { type LiveTable, readLiveTable } from "../nftables/live-table.ts";
import { namesFile } from "../nftables/names-file.ts";
import { type Ruleset, TABLE } from "../nftables/ruleset.ts";
import {
  deltaScript,
  frameText,
  fullScript,
  removeScript,
  sampleScript,
} from "../nftables/script.ts";
import { replaceFile } from "../store/durable-file.ts";
import type { BackendResult, CounterReading, DriftReport, EnforcementBackend } from "./backend.ts";
import { cutScript, flowsToCut, listFlows, readFlows } from "./nftables-cut.ts";
import { NftMonitor } from "./nftables-monitor.ts";
import { nftOnce } from "./nftables-once.ts";
import { type NftAnswer, NftSession } from "./nftables-session.ts";

/** Options of the nftables backend. */
export interface NftablesBackendOptions {
  /** Directory for scripts on their way and for the names of outbound services. */
  readonly directory: string;
  readonly compile: CompileOptions;
  /** Command that runs nft; default `["nft"]`. */
  readonly nft?: readonly string[];
  /** Cuts established flows off that a new policy does not allow; default false. */
  readonly cutEstablished?: boolean;
  /** Command that runs conntrack; default `["conntrack"]`. */
  readonly conntrack?: readonly string[];
  /** This host's addresses; default those of its interfaces. */
  readonly localAddresses?: () => readonly string[];
}

/** Members of each set that a check looks at. */
const CHECK_SAMPLE = 128;
/** Members of sets above which a load is not monitored. */
const MONITORED_LOAD = 1000;
/** Frames that are remembered as checked. */
const CHECKED_KEPT = 4;
const WOULD_DROPS_LIMIT = 100;
const DETAIL_LIMIT = 1024;

/** File with the names of outbound services in the backend's directory. */
export const NAMES_FILE = "names.hosts";

/** What this backend loaded last and how nft prints its chains. */
interface Installed {
  readonly ruleset: Ruleset;
  /** Undefined if the table was not as loaded when it was read back. */
  readonly frame: Promise<string | undefined>;
}

/** How a policy will be put in force. */
interface Plan {
  readonly policy: Canonical<WorkloadPolicy>;
  /** What it steps from; undefined if it replaces whatever is there. */
  readonly base: Installed | undefined;
  readonly ruleset: Ruleset;
  /** The script of a step; a whole one is written when it is loaded. */
  readonly step: string | undefined;
}

/**
 * Enforces in the kernel: one table `inet ringwall`, replaced in one transaction, or changed by set
 * members where only peers changed. No other table is read or touched.
 */
export class NftablesBackend implements EnforcementBackend {
  readonly name = "nftables";
  readonly #options: NftablesBackendOptions;
  readonly #nft: readonly string[];
  readonly #checker: NftSession;
  readonly #loader: NftSession;
  #monitor: NftMonitor | undefined;
  #installed: Installed | undefined;
  #plan: Plan | undefined;
  #checked: readonly string[] = [];
  #names: string | undefined;

  constructor(options: NftablesBackendOptions) {
    this.#options = options;
    this.#nft = options.nft ?? ["nft"];
    const { directory } = options;
    this.#checker = new NftSession({ command: this.#nft, directory, check: true });
    this.#loader = new NftSession({ command: this.#nft, directory, check: false });
  }

  /**
   * Every frame is checked by `nft -c` before anything of it is installed, and once: the kernel takes
   * a grace period for each check. A step changes members of sets alone; what could be wrong with it
   * is a live set that is not as expected, and the transaction itself finds that.
   */
  async check(policy: Canonical<WorkloadPolicy>): Promise<BackendResult> {
    return expressible(async () => {
      const plan = this.#planStep(policy) ?? this.#planWhole(policy);
      const result = await this.#checkFrame(plan);
      this.#plan = result.ok ? plan : undefined;
      return result;
    });
  }

  async install(
    policy: Canonical<WorkloadPolicy>,
    previous?: Canonical<WorkloadPolicy>,
  ): Promise<BackendResult> {
    return expressible(async () => {
      const plan = this.#planned(policy, previous !== undefined);
      const checked = await this.#checkFrame(plan);
      if (!checked.ok) return checked;
      const unwritten = await this.#writeNames(policy);
      const result = await this.#load(plan);
      // Rules do not wait for a file of names; it is told of once they are in force.
      if (result.ok && unwritten !== undefined) throw unwritten;
      if (result.ok && this.#options.cutEstablished === true) await this.#cut(policy);
      return result;
    });
  }

  async current(): Promise<BodyDigest | undefined> {
    return (await this.#list(["-t"]))?.body;
  }

  async remove(): Promise<void> {
    const answer = await this.#loader.run(removeScript());
    this.#installed = undefined;
    if (!answer.ok) throw new AgentError("backend-unavailable", answer.words);
    await rm(join(this.#options.directory, NAMES_FILE), { force: true });
    this.close();
  }

  async counters(): Promise<CounterReading | undefined> {
    const ruleset = this.#installed?.ruleset;
    return ruleset === undefined ? undefined : this.#count(ruleset);
  }

  /** The same counters read by a process that did not install the policy; undefined if it is not in force. */
  async countersOf(policy: Canonical<WorkloadPolicy>): Promise<CounterReading | undefined> {
    return this.#count(compileRuleset(policy, this.#options.compile));
  }

  /** Packets by comment of what is not a rule of the policy: baseline, denied and cut off flows, routes. */
  async chainPackets(): Promise<ReadonlyMap<string, bigint>> {
    return (await this.#list(["-t"]))?.otherPackets ?? new Map();
  }

  async drift(expected: Canonical<WorkloadPolicy>): Promise<DriftReport> {
    const found = await this.#differences(expected);
    if (found.length === 0) return { repaired: 0, detail: "" };
    const result = await this.#load(this.#planWhole(expected));
    if (!result.ok) {
      throw new AgentError("backend-unavailable", `drift can't be repaired: ${result.detail}`);
    }
    return { repaired: found.length, detail: found.join("; ").slice(0, DETAIL_LIMIT) };
  }

  /** Calls back when another process changed the table, until the returned function is called. */
  watch(changed: () => void): () => void {
    this.#monitor ??= new NftMonitor({
      command: this.#nft,
      isOwn: (pid) => pid === this.#loader.pid,
      changed,
    });
    return () => {
      this.#monitor?.stop();
      this.#monitor = undefined;
    };
  }

  /** Ends the processes that it runs. What is in force stays. */
  close(): void {
    this.#monitor?.stop();
    this.#monitor = undefined;
    this.#checker.close();
    this.#loader.close();
  }

  /** The plan that was checked, if it still holds. */
  #planned(policy: Canonical<WorkloadPolicy>, mayStep: boolean): Plan {
    const known = this.#plan;
    this.#plan = undefined;
    if (known?.policy === policy) {
      const holds = known.base === undefined || (mayStep && known.base === this.#installed);
      if (holds) return known;
    }
    return (mayStep ? this.#planStep(policy) : undefined) ?? this.#planWhole(policy);
  }

  #planWhole(policy: Canonical<WorkloadPolicy>): Plan {
    const ruleset = compileRuleset(policy, this.#options.compile);
    return { policy, base: undefined, ruleset, step: undefined };
  }

  #planStep(policy: Canonical<WorkloadPolicy>): Plan | undefined {
    const base = this.#installed;
    if (base === undefined) return undefined;
    const keep = new Set(base.ruleset.addressSets.map(({ name }) => name));
    const ruleset = compileRuleset(policy, this.#options.compile, keep);
    const step = deltaScript(base.ruleset, ruleset);
    return step === undefined ? undefined : { policy, base, ruleset, step };
  }

  async #checkFrame({ ruleset, base }: Plan): Promise<BackendResult> {
    const frame = frameText(ruleset);
    if (base !== undefined || this.#checked.includes(frame)) return { ok: true, detail: "" };
    const answer = await this.#checker.run(sampleScript(ruleset, CHECK_SAMPLE));
    if (answer.ok) this.#checked = [...this.#checked, frame].slice(-CHECKED_KEPT);
    return { ok: answer.ok, detail: answer.words.slice(0, DETAIL_LIMIT) };
  }

  async #load(plan: Plan): Promise<BackendResult> {
    const before = this.#installed;
    // What was loaded before has to be read back before it is changed.
    await before?.frame;
    // Whoever gives no answer may have loaded it or not: then the next load is a whole one.
    this.#installed = undefined;
    let done = plan;
    let answer =
      plan.step === undefined ? await this.#loadWhole(plan) : await this.#loader.run(plan.step);
    if (!answer.ok && plan.step !== undefined) {
      // The live sets are not what they should be: the whole load settles that.
      done = this.#planWhole(plan.policy);
      answer = await this.#loadWhole(done);
    }
    if (!answer.ok) {
      this.#installed = before;
      return { ok: false, detail: answer.words.slice(0, DETAIL_LIMIT) };
    }
    const { ruleset, base } = done;
    this.#installed = { ruleset, frame: base?.frame ?? this.#readBack(ruleset) };
    return { ok: true, detail: base === undefined ? "loaded whole" : "changed peers" };
  }

  /** Replaces everything. What another process does meanwhile is found by the next comparison. */
  async #loadWhole({ ruleset }: Plan): Promise<NftAnswer> {
    const count = ruleset.addressSets.reduce((sum, { elements }) => sum + elements.length, 0);
    const monitor = count > MONITORED_LOAD ? this.#monitor : undefined;
    monitor?.pause();
    try {
      return await this.#loader.run(fullScript(ruleset));
    } finally {
      if (monitor === this.#monitor) monitor?.resume();
    }
  }

  /** How nft prints what was just loaded; it is awaited by the next comparison. */
  async #readBack(ruleset: Ruleset): Promise<string | undefined> {
    try {
      const live = await this.#list(["-t"]);
      const asLoaded = live?.body === ruleset.body && sameRules(ruleset, live);
      return asLoaded ? live.frame : undefined;
    } catch {
      // The next comparison finds no frame, loads again and reports what then fails.
      return undefined;
    }
  }

  async #differences(expected: Canonical<WorkloadPolicy>): Promise<readonly string[]> {
    const installed = this.#installed;
    if (installed?.ruleset.body !== bodyDigest(expected)) return ["the policy was not in force"];
    return differences(installed.ruleset, await installed.frame, await this.#list([]));
  }

  async #count(ruleset: Ruleset): Promise<CounterReading | undefined> {
    const live = await this.#list(["-t"]);
    if (live?.body !== ruleset.body) return undefined;
    const rulePackets = new Map<string, bigint>();
    for (const [comment, ruleId] of ruleset.ruleIds) {
      rulePackets.set(ruleId, live.packets.get(comment) ?? 0n);
    }
    const listings = await Promise.all(
      DENIED_LISTINGS.map((args) => nftOnce(this.#nft, ["-j", ...args])),
    );
    const texts = listings.filter(({ ok }) => ok).map(({ output }) => output);
    const wouldDrops = readDenied(texts).slice(-WOULD_DROPS_LIMIT);
    return { rulePackets, wouldDrops };
  }

  async #list(flags: readonly string[]): Promise<LiveTable | undefined> {
    const args = ["-j", ...flags, "list", "table", ...TABLE.split(" ")];
    const { ok, output, words } = await nftOnce(this.#nft, args);
    if (ok) return readLiveTable(output);
    if (/No such file or directory/.test(words)) return undefined;
    throw new AgentError("backend-unavailable", `the table can't be listed: ${words}`);
  }

  async #cut(policy: WorkloadPolicy): Promise<void> {
    const { conntrack = ["conntrack"], localAddresses = interfaceTexts, compile } = this.#options;
    const flows = readFlows(await listFlows(conntrack), new Set(localAddresses()));
    const script = cutScript(flowsToCut(policy, compile.alwaysAccept ?? [], flows));
    if (script === undefined) return;
    const answer = await this.#loader.run(script);
    if (!answer.ok) {
      throw new AgentError("backend-unavailable", `flows can't be cut off: ${answer.words}`);
    }
  }

  /** Gives why the names could not be written; those that are there already are not written again. */
  async #writeNames(policy: WorkloadPolicy): Promise<AgentError | undefined> {
    const text = namesFile(policy.outboundRoutes);
    const path = join(this.#options.directory, NAMES_FILE);
    if (text === this.#names) return undefined;
    try {
      if ((await readFile(path, "utf8").catch(() => undefined)) !== text) {
        await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
        await replaceFile(path, Buffer.from(text, "utf8"));
      }
    } catch (thrown) {
      return AgentError.from(thrown, "store-unwritable");
    }
    this.#names = text;
    return undefined;
  }
}

/** What a policy can't say is an answer about the policy. */
async function expressible(work: () => Promise<BackendResult>): Promise<BackendResult> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "policy-not-expressible") {
      return { ok: false, detail: thrown.message };
    }
    throw thrown;
  }
}

function interfaceTexts(): readonly string[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .map(({ address }) => address);
}
