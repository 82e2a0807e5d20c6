import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "../errors.ts";
import { hostFault, nftOnce } from "./nftables-once.ts";

/** What nft said to a script. */
export interface NftAnswer {
  readonly ok: boolean;
  /** Its complaint; empty if it has none. */
  readonly words: string;
}

/** Options of a session. */
export interface NftSessionOptions {
  /** Command that runs nft, such as `["nft"]`. */
  readonly command: readonly string[];
  /** Directory that scripts are handed over in. */
  readonly directory: string;
  /** True if scripts are checked and never put in force. */
  readonly check: boolean;
}

/** A table that nobody has: asking for it marks the end of an answer. */
const MARK = "ringwall_end_of_answer";
const START_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 120_000;
/** Answers of one process; then a new one is started, so that nothing it hoards grows. */
const ANSWERS_LIMIT = 2000;
const WORDS_LIMIT = 64 * 1024;
/** The end of an answer in which its mark is looked for. */
const TAIL = 4096;

type State =
  /** No process; one is started with the next script. */
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly child: ChildProcessWithoutNullStreams; answers: number }
  /** This nft has no interactive mode; every script gets a process of its own. */
  | { readonly kind: "one-shot" };

/**
 * Runs scripts in a long-lived `nft -i`, which spares the start of a process for each: a step of one
 * peer takes about a millisecond instead of ten. A script is one transaction. One call at a time.
 */
export class NftSession {
  readonly #options: NftSessionOptions;
  readonly #file: string;
  #state: State = { kind: "idle" };
  #marks = 0;

  constructor(options: NftSessionOptions) {
    this.#options = options;
    this.#file = options.check ? "check.nft" : "load.nft";
  }

  /** Process that loads on behalf of this session; undefined while there is none. */
  get pid(): number | undefined {
    return this.#state.kind === "running" ? this.#state.child.pid : undefined;
  }

  /**
   * Runs a script. Rejects with `backend-unavailable` where nft or the permission to use it is
   * missing or nft gives no answer within two minutes; then nobody knows whether it took effect.
   */
  async run(script: string): Promise<NftAnswer> {
    const { directory } = this.#options;
    if (this.#state.kind === "idle") await this.#start();
    const state = this.#state;
    if (state.kind !== "running") {
      return this.#once(script);
    }
    try {
      await writeFile(join(directory, this.#file), script, { mode: 0o600 });
    } catch {
      return this.#once(script);
    }
    const line = `include "./${this.#file}"`;
    const answer = await this.#ask(state.child, line, ANSWER_TIMEOUT_MS).catch(hostError);
    state.answers += 1;
    if (state.answers >= ANSWERS_LIMIT) this.close();
    return answer;
  }

  /** By a process of its own, which needs no file: rules are put in force on a full disk too. */
  async #once(script: string): Promise<NftAnswer> {
    const { command, check } = this.#options;
    const { ok, words } = await nftOnce(command, [...(check ? ["-c"] : []), "-f", "-"], script);
    return { ok, words };
  }

  /** Ends the process; the next script starts a new one. */
  close(): void {
    if (this.#state.kind === "running") {
      this.#state.child.stdin.end();
      this.#state = { kind: "idle" };
    }
  }

  async #start(): Promise<void> {
    const { command, directory, check } = this.#options;
    const [binary = "nft", ...rest] = command;
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
    } catch {
      // Without a directory to hand scripts over in, each gets a process of its own.
      return;
    }
    const child = spawn(binary, [...rest, ...(check ? ["-c"] : []), "-i"], {
      cwd: directory,
      // Its own group: Ctrl-C must not end it in the middle of a transaction.
      detached: true,
    });
    child.stderr.setEncoding("utf8");
    child.stdout.resume();
    // A process that ended reports through `exit`.
    child.stdin.on("error", () => undefined);
    try {
      await this.#ask(child, "", START_TIMEOUT_MS);
    } catch (thrown) {
      child.kill("SIGKILL");
      if (!(thrown instanceof NoAnswer)) throw thrown;
      this.#state = { kind: "one-shot" };
      return;
    }
    this.#state = { kind: "running", child, answers: 0 };
    child.once("exit", () => this.#ended(child));
    setReferenced(child, false);
  }

  #ended(child: ChildProcessWithoutNullStreams): void {
    if (this.#state.kind === "running" && this.#state.child === child) {
      this.#state = { kind: "idle" };
    }
  }

  #ask(child: ChildProcessWithoutNullStreams, line: string, timeoutMs: number): Promise<NftAnswer> {
    this.#marks += 1;
    const mark = `${MARK}_${this.#marks}`;
    const end = new RegExp(`list table inet ${mark}\\s*\\n\\s*\\^`);
    setReferenced(child, true);
    return new Promise<NftAnswer>((resolve, reject) => {
      let text = "";
      const settle = (act: () => void) => {
        clearTimeout(timer);
        child.stderr.off("data", take);
        child.off("close", gone);
        child.off("error", failed);
        setReferenced(child, false);
        act();
      };
      const fail = (why: string) => {
        settle(() => reject(hostFault(this.#options.command, why) ?? new NoAnswer(why)));
      };
      const take = (part: string) => {
        text += part;
        if (end.test(text.slice(-TAIL))) {
          const words = text.slice(0, text.lastIndexOf("Error:", text.lastIndexOf(mark))).trim();
          settle(() => resolve({ ok: words === "", words: words.slice(0, WORDS_LIMIT) }));
        } else if (hostFault(this.#options.command, text.slice(-TAIL)) !== undefined) {
          fail(text.slice(-TAIL));
        }
      };
      const failed = (error: Error) => fail(error.message);
      const gone = () => fail(text.trim() || "it ended");
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        fail(`nothing within ${timeoutMs / 1000} s`);
      }, timeoutMs);
      child.stderr.on("data", take);
      child.once("close", gone);
      child.once("error", failed);
      child.stdin.write(`${line}\nlist table inet ${mark}\n`);
    });
  }
}

/** The process ended or fell silent before it answered. */
class NoAnswer extends Error {}

function hostError(thrown: unknown): never {
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  throw thrown instanceof NoAnswer
    ? new AgentError("backend-unavailable", `nft gave no answer: ${why}`)
    : thrown;
}

/** An idle session does not keep the agent's process alive. */
function setReferenced(child: ChildProcessWithoutNullStreams, wanted: boolean): void {
  for (const each of [child, child.stdin, child.stdout, child.stderr]) {
    // The pipes of a child are sockets, whose types do not say that they can be referenced.
    const handle = each as unknown as { ref?: () => void; unref?: () => void };
    if (wanted) handle.ref?.();
    else handle.unref?.();
  }
}
