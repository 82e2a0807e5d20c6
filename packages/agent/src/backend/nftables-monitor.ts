import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { TABLE } from "../nftables/ruleset.ts";

/** Options of a monitor. */
export interface NftMonitorOptions {
  /** Command that runs nft. */
  readonly command: readonly string[];
  /** True for the process id of a change of the agent's own. */
  readonly isOwn: (pid: number) => boolean;
  /** Somebody else changed the agent's table, or events were lost. */
  readonly changed: () => void;
}

const RESTART_FIRST_MS = 1_000;
const RESTART_LAST_MS = 60_000;
/** Changes that come within this time are told of once. */
const TELL_MS = 100;

/**
 * Follows `nft monitor` and tells of every transaction on the agent's table that another process
 * made. A monitor that ends is started again, at first after a second, at last every minute; the
 * periodic comparison covers the time between.
 */
export class NftMonitor {
  readonly #options: NftMonitorOptions;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #telling: NodeJS.Timeout | undefined;
  #delayMs = RESTART_FIRST_MS;
  #touched = false;
  #paused = false;

  constructor(options: NftMonitorOptions) {
    this.#options = options;
    this.#start();
  }

  /** Ends it. */
  stop(): void {
    this.pause();
    clearTimeout(this.#telling);
  }

  /**
   * Ends it until `resume`: with a listener the kernel tells of every member of a set, which makes
   * large loads several times slower.
   */
  pause(): void {
    this.#paused = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  /** Goes on after `pause`. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#start();
  }

  #start(): void {
    const [binary = "nft", ...rest] = this.#options.command;
    const child = spawn(binary, [...rest, "monitor"], {
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    this.#child = child;
    this.#touched = false;
    createInterface({ input: child.stdout }).on("line", (line) => this.#take(line));
    child.once("error", () => this.#restart(child));
    child.once("exit", () => this.#restart(child));
    child.unref();
    // The pipe of a child is a socket, whose type does not say that it can be unreferenced.
    (child.stdout as unknown as { unref?: () => void }).unref?.();
  }

  #restart(ended: ChildProcess): void {
    if (this.#paused || this.#child !== ended || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#start();
    }, this.#delayMs);
    this.#timer.unref();
    this.#delayMs = Math.min(this.#delayMs * 2, RESTART_LAST_MS);
  }

  #take(line: string): void {
    const generation = /^# new generation \d+ by process (\d+)/.exec(line);
    if (generation !== null) {
      this.#delayMs = RESTART_FIRST_MS;
      const foreign = this.#touched && !this.#options.isOwn(Number(generation[1]));
      this.#touched = false;
      if (foreign) this.#tell();
    } else if (line.startsWith("# ERROR")) {
      this.#tell();
    } else if (line.includes(` ${TABLE}`)) {
      this.#touched = true;
    }
  }

  #tell(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#options.changed();
    }, TELL_MS);
  }
}
