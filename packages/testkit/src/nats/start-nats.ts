import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsServerBinary } from "./binary.ts";

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 10_000;

/** Options of a nats-server for tests. */
export interface NatsOptions {
  /** Store directory; default a new one that `stop` removes. */
  readonly storeDir?: string;
  /** Client port; default a free one. */
  readonly port?: number;
  /** More lines of server configuration, for example accounts with permissions. */
  readonly config?: string;
  /** Lines inside the `jetstream` block, for example `sync_interval: always`. */
  readonly jetstream?: string;
}

/** A running nats-server with JetStream. */
export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  /** Process id of the present life, undefined while it is down. */
  readonly pid: number | undefined;
  /** Ends it and removes a store directory that was made for it. */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL), as a crash would; the store stays. */
  kill(): Promise<void>;
  /**
   * Starts it again on the same port and store; kills it first if it still runs. `config` takes the
   * place of the lines that it was started with.
   */
  restart(config?: string): Promise<void>;
  /** Empties the store while it is down. */
  wipe(): Promise<void>;
  /** Copies the store while it is down, to be put back with `restore`. */
  backup(): Promise<string>;
  /** Replaces the store by a copy while it is down. */
  restore(copy: string): Promise<void>;
  /** Freezes it (SIGSTOP). */
  pause(): void;
  /** Wakes it (SIGCONT). */
  resume(): void;
}

/**
 * Starts a real nats-server on 127.0.0.1 with its own store, and waits until it takes clients. The
 * process ends with the test process at the latest.
 */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const home = await mkdtemp(join(tmpdir(), "ringwall-nats-"));
  const server = new Server(home, options, options.port ?? (await freePort()));
  await server.restart();
  return server;
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === "string") {
    throw new Error("the probe socket has no port");
  }
  return address.port;
}

class Server implements NatsServer {
  readonly port: number;
  readonly storeDir: string;
  readonly #home: string;
  readonly #options: NatsOptions;
  #config: string;
  #child: ChildProcess | undefined;

  constructor(home: string, options: NatsOptions, port: number) {
    this.#home = home;
    this.#options = options;
    this.#config = options.config ?? "";
    this.port = port;
    this.storeDir = options.storeDir ?? join(home, "store");
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async restart(config = this.#config): Promise<void> {
    this.#config = config;
    await this.kill();
    await mkdir(this.storeDir, { recursive: true });
    const configFile = join(this.#home, "server.conf");
    await writeFile(configFile, this.#configuration());
    const logFile = join(this.#home, "server.log");
    const child = spawn(natsServerBinary(), ["-c", configFile, "-l", logFile], {
      stdio: "ignore",
    });
    this.#child = child;
    const orphanGuard = () => child.kill("SIGKILL");
    process.once("exit", orphanGuard);
    child.once("exit", () => {
      process.removeListener("exit", orphanGuard);
      if (this.#child === child) {
        this.#child = undefined;
      }
    });
    const until = Date.now() + START_DEADLINE_MS;
    while (!(await greets(this.port))) {
      if (this.#child !== child || Date.now() > until) {
        const log = await readFile(logFile, "utf8").catch(() => "");
        await this.kill();
        throw new Error(`nats-server did not start: ${log.split("\n").slice(-8).join(" | ")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    await rm(this.#home, { recursive: true, force: true });
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async wipe(): Promise<void> {
    this.#assertDown("wipe");
    await rm(this.storeDir, { recursive: true, force: true });
  }

  async backup(): Promise<string> {
    this.#assertDown("backup");
    const copy = await mkdtemp(join(this.#home, "backup-"));
    await cp(this.storeDir, copy, { recursive: true });
    return copy;
  }

  async restore(copy: string): Promise<void> {
    await this.wipe();
    await cp(copy, this.storeDir, { recursive: true });
  }

  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  #configuration(): string {
    return [
      `listen: "127.0.0.1:${this.port}"`,
      `server_name: "test-${this.port}"`,
      // As deploy/nats has it.
      'ping_interval: "5s"',
      "ping_max: 2",
      `jetstream { store_dir: "${this.storeDir}"\n${this.#options.jetstream ?? ""} }`,
      this.#config,
    ].join("\n");
  }

  #assertDown(what: string): void {
    if (this.#child !== undefined) {
      throw new Error(`${what} needs the server down; kill it first`);
    }
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined) {
      return;
    }
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const force = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
    child.kill("SIGCONT");
    child.kill(signal);
    await gone;
    clearTimeout(force);
  }
}

// A nats-server greets each client with INFO as soon as it serves, JetStream included.
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 1000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", (bytes) => end(bytes.toString("latin1").startsWith("INFO ")));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
    socket.once("close", () => end(false));
  });
}
