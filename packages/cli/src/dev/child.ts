import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../errors.ts";

/** How a child process is run. */
export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Takes what the process writes. */
  readonly logFile: string;
  /** Called with the process id of every life. */
  readonly started: (name: string, pid: number, command: string) => void;
  /** Says one line to people. */
  readonly say: (text: string) => void;
  /** Called when it ended too often to be started again. */
  readonly giveUp: (error: CliError) => void;
}

const STOP_DEADLINE_MS = 8_000;
const RESTART_DELAY_MS = 500;
const RESTARTS_LIMIT = 5;
const RESTARTS_WINDOW_MS = 60_000;
const SHOWN_LOG_LINES = 8;

/**
 * A child process that is started again when it ends unasked, at most 5 times a minute. It runs in
 * its own process group, so that Ctrl-C reaches it only in the order in which things are stopped.
 */
export class Child {
  readonly name: string;
  readonly #options: ChildOptions;
  #process: ChildProcess | undefined;
  #stopping = false;
  readonly #restarts: number[] = [];
  // A second Ctrl-C leaves nothing behind.
  readonly #endAtOnce = () => this.#process?.kill("SIGKILL");

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.#options = options;
    process.once("exit", this.#endAtOnce);
    this.#start();
  }

  /** Process id of the present life. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Ends it: SIGTERM, after 8 s SIGKILL. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGTERM");
    const deadline = new AbortController();
    const force = delay(STOP_DEADLINE_MS, undefined, { signal: deadline.signal }).then(
      () => child.kill("SIGKILL"),
      () => undefined,
    );
    await gone;
    deadline.abort();
    await force;
    process.removeListener("exit", this.#endAtOnce);
  }

  #start(): void {
    const { command, args, cwd, environment, logFile } = this.#options;
    const log = openSync(logFile, "a");
    const child = spawn(command, [...args], {
      cwd,
      env: environment,
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    this.#process = child;
    const { started } = this.#options;
    if (child.pid !== undefined) started(this.name, child.pid, [command, ...args].join(" "));
    child.once("error", (error) => this.#fail(`can't be started: ${error.message}`));
    child.once("exit", (code, signal) => {
      if (!this.#stopping) void this.#restart(signal ?? `code ${code}`);
    });
  }

  async #restart(reason: string): Promise<void> {
    const now = performance.now();
    this.#restarts.push(now);
    const recent = this.#restarts.filter((at) => now - at < RESTARTS_WINDOW_MS);
    if (recent.length > RESTARTS_LIMIT) {
      this.#fail(`ended ${recent.length} times within a minute, last with ${reason}`);
      return;
    }
    this.#options.say(`${this.name} ended (${reason}); starting it again`);
    await delay(RESTART_DELAY_MS);
    if (!this.#stopping) this.#start();
  }

  #fail(what: string): void {
    this.#stopping = true;
    void lastLines(this.#options.logFile).then((lines) =>
      this.#options.giveUp(
        new CliError("refused", `${this.name} ${what}`, {
          lines,
          hint: `its log is ${this.#options.logFile}`,
        }),
      ),
    );
  }
}

/** The last lines of a log. */
export async function lastLines(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-SHOWN_LOG_LINES);
}
