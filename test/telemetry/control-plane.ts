import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, freePort, type NatsServer, startNats } from "@ringwall/testkit";
import { type CommandOutcome, MAIN, ROOT } from "./paths.ts";

/** Services of a control plane, in the order in which they are started. */
export const SERVICES = ["version-keeper", "registrar", "renderer", "agent-gateway"] as const;

/** A process of the control plane: a service, or the agents. */
export type ProcessName = (typeof SERVICES)[number] | "agent";

/** How a control plane is started. */
export interface PlaneOptions {
  /** Ids of the workloads whose agents run, each with one address. */
  readonly workloads: readonly string[];
  /** Variables of every process, of the command too. */
  readonly environment?: Readonly<Record<string, string>>;
}

const READY_MS = 90_000;
const STOP_MS = 10_000;

/** A real nats-server, the four services and one process of agents, each its own process. */
export class ControlPlane implements AsyncDisposable {
  readonly nats: NatsServer;
  readonly directory: string;
  readonly #options: PlaneOptions;
  readonly #processes = new Map<ProcessName, ChildProcess>();
  readonly #ports = new Map<ProcessName, number>();

  private constructor(nats: NatsServer, directory: string, options: PlaneOptions) {
    this.nats = nats;
    this.directory = directory;
    this.#options = options;
  }

  /** Starts everything and waits until the services are up; nothing is committed yet. */
  static async start(options: PlaneOptions): Promise<ControlPlane> {
    const nats = await startNats({ jetstream: "sync_interval: always" });
    const directory = await mkdtemp(join(tmpdir(), "ringwall-plane-"));
    const plane = new ControlPlane(nats, directory, options);
    try {
      await plane.startAll();
      return plane;
    } catch (error) {
      await plane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts what does not run. */
  async startAll(): Promise<void> {
    for (const name of SERVICES) await this.#start(name, []);
    const estate = join(this.directory, "estate.json");
    const entries = this.#options.workloads.map((workload, index) => ({
      workload,
      addresses: [`10.30.${index >> 8}.${(index & 255) + 1}`],
    }));
    await writeFile(estate, JSON.stringify(entries));
    await this.#start("agent", [
      "--estate",
      estate,
      "--state-dir",
      join(this.directory, "agents"),
      "--backend",
      "file",
    ]);
    await this.answering();
  }

  /** Waits until NATS is reached by every service and their operations are answered. */
  async answering(): Promise<void> {
    const answers = async () => {
      const pages = SERVICES.map((name) => this.page(name, "/metrics"));
      const connected = await Promise.all(pages).then(
        (texts) => texts.every((text) => /^ringwall_bus_connected(\{\})? 1$/m.test(text)),
        () => false,
      );
      return connected && (await this.ringwall(["status"])).code === 0;
    };
    await eventually("the services' answers", answers, Boolean, READY_MS);
  }

  /** Ends processes cleanly, all by default; what they still export is out afterwards. */
  async stop(names: readonly ProcessName[] = [...this.#processes.keys()]): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        const child = this.#processes.get(name);
        this.#processes.delete(name);
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGTERM");
        const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
        await gone;
        clearTimeout(timer);
      }),
    );
  }

  /** Reads a page of a process's HTTP endpoints; fails unless it is answered with 200. */
  async page(name: ProcessName, path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.get(name)}${path}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`${name}${path} answers ${response.status}: ${text}`);
    return text;
  }

  /** Runs `ringwall` against this control plane. */
  ringwall(args: readonly string[], stdin = ""): Promise<CommandOutcome> {
    const child = spawn(process.execPath, [MAIN, ...args], { cwd: ROOT, env: this.#variables() });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdin.on("error", () => undefined).end(stdin);
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
    });
  }

  /** Runs `ringwall` and fails unless it ends with 0. */
  async must(args: readonly string[], stdin = ""): Promise<string> {
    const outcome = await this.ringwall(args, stdin);
    if (outcome.code !== 0) {
      throw new Error(`ringwall ${args.join(" ")} ended with ${outcome.code}:\n${outcome.stderr}`);
    }
    return outcome.stdout;
  }

  /** Waits until so many workloads are SYNCED. */
  async synced(count: number): Promise<void> {
    const states = async () => {
      const { code, stdout } = await this.ringwall(["get", "workloads", "--json"]);
      // The command's documented JSON form.
      const document = JSON.parse(stdout) as { workloads?: { id: string; state: string }[] };
      return code === 0 ? (document.workloads ?? []) : [];
    };
    const all = (found: readonly { state: string }[]) =>
      found.length === count && found.every(({ state }) => state === "SYNCED");
    await eventually("SYNCED of every workload", states, all, READY_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.nats.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  async #start(name: ProcessName, args: readonly string[]): Promise<void> {
    if (this.#processes.has(name)) return;
    const port = await freePort();
    const main = join(ROOT, "services", name, "src", "main.ts");
    const child = spawn(process.execPath, [main, "--http-port", String(port), ...args], {
      cwd: ROOT,
      env: this.#variables(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const log = createWriteStream(join(this.directory, `${name}.log`), { flags: "a" });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    this.#processes.set(name, child);
    this.#ports.set(name, port);
  }

  #variables(): NodeJS.ProcessEnv {
    const kept = Object.entries(process.env).filter(
      ([name]) => !name.startsWith("RINGWALL_") && !name.startsWith("OTEL_"),
    );
    return {
      ...Object.fromEntries(kept),
      RINGWALL_NATS_URL: this.nats.url,
      RINGWALL_HTTP_HOST: "127.0.0.1",
      ...this.#options.environment,
    };
  }
}
