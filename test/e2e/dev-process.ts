import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { eventually } from "@ringwall/testkit";
import { type CommandOutcome, cleanEnvironment, MAIN, ROOT, runCommand } from "./command.ts";

/** One line that `ringwall dev --json` writes. */
interface DevEvent {
  readonly event: string;
  readonly text?: string;
  readonly name?: string;
  readonly pid?: number;
  readonly synced?: boolean;
  readonly workloads?: readonly DevWorkload[];
}

/** A workload as `ringwall dev --json` shows it. */
export interface DevWorkload {
  readonly id: string;
  readonly mode: string;
  readonly version: number;
  readonly acked: number;
  readonly state: string;
  readonly detail: string;
}

const START_DEADLINE_MS = 90_000;
const RESTART_DEADLINE_MS = 90_000;

/** `ringwall dev` as a process of its own, with everything that it starts. */
export class DevProcess {
  readonly natsUrl: string;
  /** Present process id of every service, by name. */
  readonly pids = new Map<string, number>();
  /** What was said, in order. */
  readonly steps: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;
  #stderr = "";
  #last: DevEvent | undefined;

  constructor(stateDir: string, port: number) {
    this.natsUrl = `nats://127.0.0.1:${port}`;
    const args = ["dev", "--json", "--port", String(port), "--state-dir", stateDir];
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: ROOT,
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("close", (code) => resolve(code ?? -1)));
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
    });
    const orphanGuard = () => this.#killAll();
    process.once("exit", orphanGuard);
    child.once("close", () => process.removeListener("exit", orphanGuard));
  }

  /** Workloads as last shown. */
  get workloads(): readonly DevWorkload[] {
    return this.#last?.workloads ?? [];
  }

  /** Waits until a picture satisfies the condition. */
  async shows(what: string, holds: (workloads: readonly DevWorkload[]) => boolean): Promise<void> {
    await eventually(
      what,
      () => {
        if (this.#child.exitCode !== null) throw new Error(`dev ended: ${this.#stderr}`);
        return this.workloads;
      },
      (workloads) => workloads.length > 0 && holds(workloads),
      START_DEADLINE_MS,
    ).catch((error: unknown) => {
      const states = this.workloads.map((each) => `${each.id} ${each.state} ${each.detail}`);
      throw new Error(`${String(error)}\n${states.join("\n")}\n${this.steps.join("\n")}`);
    });
  }

  /** Waits until every workload is SYNCED. */
  async synced(): Promise<void> {
    await this.shows("all SYNCED", (all) => all.every(({ state }) => state === "SYNCED"));
  }

  /** Runs the command against this control plane. */
  run(...args: readonly string[]): Promise<CommandOutcome> {
    return runCommand(["--nats-url", this.natsUrl, ...args]);
  }

  /** Runs the command with --json and reads its document; fails unless it ends with code 0. */
  async read<Result>(...args: readonly string[]): Promise<Result> {
    const { code, stdout, stderr } = await this.run("--json", ...args);
    if (code !== 0) throw new Error(`ringwall ${args.join(" ")}: ${code}\n${stdout}${stderr}`);
    const document: Result = JSON.parse(stdout);
    return document;
  }

  /** Kills a service as a crash does and waits until it runs again. */
  async crash(name: string): Promise<void> {
    const pid = this.pids.get(name);
    if (pid === undefined) throw new Error(`${name} does not run`);
    process.kill(pid, "SIGKILL");
    await eventually(
      `${name} runs again`,
      () => this.pids.get(name) !== pid,
      Boolean,
      RESTART_DEADLINE_MS,
    );
  }

  /** Ends it as Ctrl-C does; gives the exit code. */
  async stop(): Promise<number> {
    this.#child.kill("SIGINT");
    return this.#ended;
  }

  #take(event: DevEvent): void {
    if (event.event === "process" && event.name !== undefined && event.pid !== undefined) {
      this.pids.set(event.name, event.pid);
    } else if (event.event === "state") {
      this.#last = event;
    } else if (event.text !== undefined) {
      this.steps.push(event.text);
    }
  }

  #killAll(): void {
    this.#child.kill("SIGKILL");
    for (const pid of this.pids.values()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    }
  }
}
