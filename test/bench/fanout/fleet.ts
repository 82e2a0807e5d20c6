import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Order, Report } from "./protocol.ts";

const AGENTS = fileURLToPath(new URL("./agents.ts", import.meta.url));
const PROBE = fileURLToPath(new URL("../../chaos/lab/probe.ts", import.meta.url));
const DEADLINE_MS = 180_000;

/** The process that hosts the agents. */
export class Fleet {
  readonly #child: ChildProcess;
  #done: (() => void) | undefined;
  #profiled: ((text: string) => void) | undefined;
  #times: ((times: readonly number[]) => void) | undefined;

  constructor() {
    const child = fork(AGENTS, { execArgv: ["--import", PROBE] });
    this.#child = child;
    const orphanGuard = () => child.kill("SIGKILL");
    process.once("exit", orphanGuard);
    child.once("exit", () => process.removeListener("exit", orphanGuard));
    child.on("message", (message) => {
      if (typeof message === "string") {
        this.#profiled?.(message);
        return;
      }
      // The process of the agents says exactly these.
      const report = message as Report;
      if (report.kind === "done") this.#done?.();
      else this.#times?.(report.times);
    });
  }

  /** Its process id. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Has something done and waits until it is. */
  async order(order: Order): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#done = done.resolve;
    this.#child.send(order);
    await within(`agents: ${order.kind}`, done.promise);
  }

  /** Gives an order that ends with times, which come later. */
  async expect(order: Order): Promise<{ readonly times: Promise<readonly number[]> }> {
    const times = Promise.withResolvers<readonly number[]>();
    this.#times = times.resolve;
    await this.order(order);
    return { times: within(`agents: times of ${order.kind}`, times.promise) };
  }

  /** Begins to record a CPU profile, or ends it and gives it as text. */
  async profile(what: "start" | "stop"): Promise<string> {
    const text = Promise.withResolvers<string>();
    this.#profiled = text.resolve;
    this.#child.send(`profile-${what}`);
    return within(`agents: profile ${what}`, text.promise);
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }
}

function within<T>(what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<T>();
  const timer = setTimeout(() => late.reject(new Error(`${what}: too late`)), DEADLINE_MS);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
