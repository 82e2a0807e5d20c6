import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { inNetns, type LabHost, runTool } from "@ringwall/cli/lab";

const MAIN = fileURLToPath(new URL("../../services/agent/src/main.ts", import.meta.url));
const HTTP_PORT = 9464;

/** Options of an agent's process. */
export interface AgentOptions {
  readonly stateDir: string;
  /** Further options of the agent. */
  readonly args?: readonly string[];
  /** What the agent is run by, such as a program that takes rights away. */
  readonly wrapper?: readonly string[];
  /** Default an address that nobody has. */
  readonly natsUrl?: string;
}

/** The agent's own program in a host's namespace, with no bus to reach unless one is named. */
export class AgentProcess {
  readonly #child: ChildProcess;
  readonly #host: LabHost;
  /** Exit code and what it wrote to stderr. */
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;

  constructor(host: LabHost, options: AgentOptions) {
    const { stateDir, args = [], wrapper = [], natsUrl = "nats://10.1.255.254:4222" } = options;
    const [binary = "ip", ...rest] = inNetns(host.netns, [
      ...wrapper,
      process.execPath,
      MAIN,
      ...["--workload", host.name, "--state-dir", stateDir, "--backend", "nftables"],
      ...["--nats-url", natsUrl, "--http-port", String(HTTP_PORT)],
      ...args,
    ]);
    this.#host = host;
    const environment = { ...process.env, OTEL_SDK_DISABLED: "true" };
    const child = spawn(binary, rest, { stdio: ["ignore", "ignore", "pipe"], env: environment });
    this.#child = child;
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      errors += part;
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (code) => resolve({ code, errors }));
    });
  }

  /** Ends it as a crash does. */
  async crash(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /** Ends it as a service manager does; gives the exit code. */
  async stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    return (await this.ended).code;
  }

  /** What it says of its one workload; undefined while it does not answer. */
  async status(): Promise<Readonly<Record<string, unknown>> | undefined> {
    const ask = `fetch("http://127.0.0.1:${HTTP_PORT}/status").then((r) => r.text()).then((t) => process.stdout.write(t))`;
    const [binary = "ip", ...rest] = inNetns(this.#host.netns, [process.execPath, "-e", ask]);
    const text = await runTool(binary, rest).catch(() => "[]");
    const [status]: readonly unknown[] = JSON.parse(text);
    return typeof status === "object" && status !== null ? { ...status } : undefined;
  }
}
