import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { CliError } from "../errors.ts";
import { inNetns, type LabHost } from "./netlab.ts";
import type {
  Attempt,
  AttemptResult,
  Counts,
  PeerAnswer,
  PeerPort,
  PeerRequest,
} from "./peer-messages.ts";

const MAIN = fileURLToPath(new URL("peer-main.ts", import.meta.url));
const WIDTH = 256;

interface Waiting {
  readonly resolve: (answer: PeerAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** A tiny server and caller in a host's namespace. */
export class Peer implements AsyncDisposable {
  readonly host: LabHost;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  private constructor(host: LabHost) {
    this.host = host;
    const [binary = "ip", ...args] = inNetns(host.netns, [process.execPath, MAIN, host.name]);
    // Its own group: Ctrl-C reaches it only in the order in which things are stopped.
    this.#child = spawn(binary, args, { detached: true });
    this.#child.stdin.on("error", () => undefined);
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#take(line));
    let words = "";
    this.#child.stderr.setEncoding("utf8").on("data", (part: string) => {
      words = (words + part).slice(-2000);
    });
    this.#child.once("close", () => this.#gone(words));
    this.#child.once("error", (error) => this.#gone(error.message));
  }

  /** Starts a peer that serves these ports on all addresses of the host. */
  static async start(host: LabHost, ports: readonly PeerPort[]): Promise<Peer> {
    const peer = new Peer(host);
    await peer.#ask({ kind: "serve", ports });
    return peer;
  }

  /** Serves further ports. */
  async serve(ports: readonly PeerPort[]): Promise<void> {
    await this.#ask({ kind: "serve", ports });
  }

  /** Tries connections and gives the outcomes in their order. */
  async tryAll(attempts: readonly Attempt[], timeoutMs = 1000): Promise<readonly AttemptResult[]> {
    const answer = await this.#ask({ kind: "try", attempts, timeoutMs, width: WIDTH });
    return answer.kind === "results" ? answer.results : [];
  }

  /** Tries one connection. */
  async try(attempt: Attempt, timeoutMs = 1000): Promise<AttemptResult["outcome"]> {
    const [result] = await this.tryAll([attempt], timeoutMs);
    return result?.outcome ?? "silent";
  }

  /** Opens many connections to one place; gives how often each name answered. */
  async spread(attempt: Attempt, count: number, width = 64, timeoutMs = 5000): Promise<Counts> {
    return counts(await this.#ask({ kind: "spread", attempt, count, width, timeoutMs }));
  }

  /** Tries connections for a while; gives how often each outcome came. */
  async hammer(
    attempt: Attempt,
    options: { readonly durationMs: number; readonly timeoutMs: number; readonly width: number },
  ): Promise<Counts> {
    return counts(await this.#ask({ kind: "hammer", attempt, ...options }));
  }

  /** Opens a connection and keeps it; gives the name of the far end. */
  async hold(key: string, attempt: Attempt, timeoutMs = 5000): Promise<string> {
    const answer = await this.#ask({ kind: "hold", key, attempt, timeoutMs });
    return answer.kind === "results" ? (answer.results[0]?.name ?? "") : "";
  }

  /** Sends on a kept connection and waits for the echo. */
  async echo(key: string, timeoutMs = 2000): Promise<AttemptResult["outcome"]> {
    const answer = await this.#ask({ kind: "echo", key, timeoutMs });
    return answer.kind === "results" ? (answer.results[0]?.outcome ?? "silent") : "silent";
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  #ask(request: PeerRequest): Promise<PeerAnswer> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, request })}\n`);
    });
  }

  #take(line: string): void {
    // Written by peer-main.ts, which has the type.
    const { id, answer, error } = JSON.parse(line) as {
      id: number;
      answer?: PeerAnswer;
      error?: string;
    };
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer !== undefined) waiting?.resolve(answer);
    else waiting?.reject(new CliError("refused", `${this.host.name}: ${error}`));
  }

  #gone(words: string): void {
    for (const { reject } of this.#waiting.values()) {
      reject(new CliError("refused", `the peer in ${this.host.netns} ended: ${words.trim()}`));
    }
    this.#waiting.clear();
  }
}

function counts(answer: PeerAnswer): Counts {
  return answer.kind === "counts" ? answer.counts : {};
}
