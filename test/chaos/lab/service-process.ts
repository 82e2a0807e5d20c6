import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROBE = fileURLToPath(new URL("./probe.ts", import.meta.url));
const CACHE = join(ROOT, "node_modules/.cache/ringwall/compiled");
const STOP_DEADLINE_MS = 10_000;
const ANSWER_MS = 2000;

/** How a service is run. */
export interface ServiceProcessOptions {
  /** Folder of the service below `services`. */
  readonly service: string;
  readonly name: string;
  readonly args: readonly string[];
  /** True if each life is another instance, as it is when nobody names them. */
  readonly isInstance?: boolean;
  readonly logFile: string;
  /** Port of its health endpoints on 127.0.0.1. */
  readonly httpPort: number;
  /** Options of Node, for example for profiling. */
  readonly nodeArgs?: readonly string[];
}

/** What the memory of a process comes to after a full collection, in bytes. */
export interface Memory {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

/** One service as its own process, run from its main file; it ends with this process at the latest. */
export class ServiceProcess {
  readonly name: string;
  readonly httpPort: number;
  readonly #options: ServiceProcessOptions;
  #child: ChildProcess | undefined;
  #lives = 0;

  constructor(options: ServiceProcessOptions) {
    this.#options = options;
    this.name = options.name;
    this.httpPort = options.httpPort;
  }

  /** Process id of the present life, undefined while it is down. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it; nothing happens if it runs. */
  start(): void {
    if (this.#child !== undefined) return;
    const { service, args, logFile, httpPort, nodeArgs = [], isInstance } = this.#options;
    this.#lives += 1;
    const instance = isInstance === true ? ["--instance", `${this.name}-${this.#lives}`] : [];
    const log = openSync(logFile, "a");
    const main = join(ROOT, "services", service, "src", "main.ts");
    const health = ["--http-port", String(httpPort), "--http-host", "127.0.0.1"];
    const child = spawn(
      process.execPath,
      [...nodeArgs, "--expose-gc", "--import", PROBE, main, ...args, ...instance, ...health],
      { stdio: ["ignore", log, log, "ipc"], env: environment() },
    );
    closeSync(log);
    this.#child = child;
    const orphanGuard = () => child.kill("SIGKILL");
    process.once("exit", orphanGuard);
    child.once("exit", () => {
      process.removeListener("exit", orphanGuard);
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** Ends it as a crash does. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Ends it as an operator does. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** Stops its clock (SIGSTOP): it does nothing and knows nothing of it. */
  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  /** Wakes it. */
  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Why it does not serve; empty if it does. */
  async problem(): Promise<string> {
    const { status, text } = await this.#get("/readyz");
    return status === 200 ? "" : text.trim() || "does not answer";
  }

  /** The value of one series of its metrics page, summed over labels; 0 if there is none. */
  async metric(name: string): Promise<number> {
    const { text } = await this.#get("/metrics");
    let sum = 0;
    for (const line of text.split("\n")) {
      if (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) {
        sum += Number(line.slice(line.lastIndexOf(" ") + 1));
      }
    }
    return sum;
  }

  /** Collects garbage in the process and measures what is left. */
  async memory(): Promise<Memory> {
    // The probe answers with exactly this shape.
    return (await this.#ask("memory")) as Memory;
  }

  /** Begins to record a CPU profile, or ends it and gives it as text. */
  async profile(what: "start" | "stop"): Promise<string> {
    return String(await this.#ask(`profile-${what}`));
  }

  #ask(what: string): Promise<unknown> {
    const child = this.#child;
    if (child === undefined) throw new Error(`${this.name} does not run`);
    const answer = Promise.withResolvers<unknown>();
    const ended = () => answer.reject(new Error(`${this.name} ended`));
    child.once("exit", ended);
    child.once("message", answer.resolve);
    child.send(what);
    return answer.promise.finally(() => child.removeListener("exit", ended));
  }

  async #get(path: string): Promise<{ status: number; text: string }> {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const response = await fetch(`http://127.0.0.1:${this.httpPort}${path}`, { signal });
      return { status: response.status, text: await response.text() };
    } catch {
      return { status: 0, text: "" };
    }
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const force = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
    child.kill(signal);
    child.kill("SIGCONT");
    await gone;
    clearTimeout(force);
  }
}

/** The environment without what would change a service's options. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("RINGWALL_"));
  return { NODE_COMPILE_CACHE: CACHE, ...Object.fromEntries(kept) };
}
