import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { eventually } from "@ringwall/testkit";
import { cleanEnvironment, MAIN, ROOT } from "./command.ts";
import type { DevProcess } from "./dev-process.ts";

const START_DEADLINE_MS = 90_000;

/** One line of `ringwall watch --json`. */
export interface WatchLine {
  readonly event: "version" | "ack";
  readonly workload: string;
  readonly from?: number;
  readonly to?: number;
  readonly changes?: readonly string[];
  readonly ack?: string;
}

/** `ringwall watch --json` as a process of its own. */
export class WatchProcess implements AsyncDisposable {
  readonly #lines: WatchLine[] = [];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts it and waits until it follows. */
  static async start(dev: DevProcess): Promise<WatchProcess> {
    const child = spawn(process.execPath, [MAIN, "--nats-url", dev.natsUrl, "--json", "watch"], {
      cwd: ROOT,
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const watch = new WatchProcess(child);
    createInterface({ input: child.stdout }).on("line", (line) => {
      watch.#lines.push(JSON.parse(line));
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    await eventually(
      "watch follows",
      () => stderr.includes("watching"),
      Boolean,
      START_DEADLINE_MS,
    );
    return watch;
  }

  /** Steps of one workload's version. */
  steps(workload: string): WatchLine[] {
    return this.#lines.filter((line) => line.workload === workload && line.event === "version");
  }

  /** Acknowledgements of one workload's agent. */
  acks(workload: string): WatchLine[] {
    return this.#lines.filter((line) => line.workload === workload && line.ack === "APPLIED");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.kill("SIGINT");
    await ended;
  }
}
