import { writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../errors.ts";
import type { EstateWorkload } from "../estate/read-estate.ts";
import { Child } from "./child.ts";
import { checkPort, findNatsServer, writeNatsConfiguration } from "./nats-server.ts";
import type { StateDirectory } from "./state-directory.ts";

/** What a development control plane is started with. */
export interface StackOptions {
  /** Root of the checkout: services are run from their sources. */
  readonly root: string;
  readonly state: StateDirectory;
  readonly port: number;
  readonly prefix: string;
  /** Environment that the control plane serves. */
  readonly environment: string;
  readonly processEnvironment: Readonly<Record<string, string | undefined>>;
  readonly say: (text: string) => void;
  /** Called with the process id of everything that is started. */
  readonly started: (name: string, pid: number, command: string) => void;
  /** Called when a process can't be kept running. */
  readonly giveUp: (error: CliError) => void;
}

const HOST = "127.0.0.1";
const CACHE = "node_modules/.cache/ringwall/compiled";
const NATS_DEADLINE_MS = 15_000;
const NATS_POLL_MS = 25;
const SERVICES = ["version-keeper", "registrar", "renderer", "agent-gateway"] as const;

/** nats-server, the four services and the agents, each its own process. */
export class Stack implements AsyncDisposable {
  readonly natsUrl: string;
  readonly #options: StackOptions;
  #nats: Child | undefined;
  readonly #services: Child[] = [];
  #agents: Child | undefined;

  constructor(options: StackOptions) {
    this.#options = options;
    this.natsUrl = `nats://${HOST}:${options.port}`;
  }

  /** Starts nats-server and waits until it greets; gives its version. */
  async startNats(): Promise<string> {
    const { root, state, port, processEnvironment } = this.#options;
    const binary = findNatsServer(root, processEnvironment);
    await checkPort(HOST, port);
    const configuration = await writeNatsConfiguration(state.root, {
      host: HOST,
      port,
      storeDir: state.nats,
    });
    this.#nats = this.#child("nats-server", binary.path, ["-c", configuration]);
    const until = performance.now() + NATS_DEADLINE_MS;
    while (!(await greets(port))) {
      if (performance.now() > until) {
        throw new CliError("transport", `nats-server does not answer on port ${port}`, {
          hint: `its log is ${this.#logOf("nats-server")}`,
        });
      }
      await delay(NATS_POLL_MS);
    }
    return binary.version;
  }

  /** Starts the four services; they find their own order. */
  startServices(): void {
    for (const service of SERVICES) this.#services.push(this.#node(service, []));
  }

  /** Starts one process with an agent for each workload. */
  async startAgents(workloads: readonly EstateWorkload[]): Promise<void> {
    const { state } = this.#options;
    const file = join(state.root, "agents.json");
    await writeFile(file, `${JSON.stringify(workloads.map(agentEntry), null, 2)}\n`);
    this.#agents = this.#node("agent", [
      "--estate",
      file,
      "--state-dir",
      state.agents,
      "--backend",
      "file",
    ]);
  }

  /** Stops agents, then services, then NATS. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agents?.stop();
    await Promise.all(this.#services.map((service) => service.stop()));
    await this.#nats?.stop();
  }

  #node(service: string, args: readonly string[]): Child {
    const { root, prefix, environment } = this.#options;
    const main = join(root, "services", service, "src", "main.ts");
    return this.#child(service, process.execPath, [
      main,
      "--nats-url",
      this.natsUrl,
      "--prefix",
      prefix,
      ...(service === "agent" ? [] : ["--env", environment]),
      ...args,
    ]);
  }

  #child(name: string, command: string, args: readonly string[]): Child {
    const { root, processEnvironment, say, started, giveUp } = this.#options;
    return new Child({
      name,
      command,
      args,
      cwd: root,
      // Compiled sources are kept, so that a second start and a restart are quick.
      environment: { NODE_COMPILE_CACHE: join(root, CACHE), ...processEnvironment },
      logFile: this.#logOf(name),
      say,
      started,
      giveUp,
    });
  }

  #logOf(name: string): string {
    return join(this.#options.state.logs, `${name}.log`);
  }
}

function agentEntry(workload: EstateWorkload) {
  const { id, addresses, services, annotations, outbounds, attributes } = workload;
  return { workload: id, addresses, services, annotations, outbounds, attributes };
}

/** True once a server on the port sends its INFO line. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: HOST, port, timeout: 1_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", (bytes) => end(bytes.toString("latin1").startsWith("INFO ")));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}
