import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ControlPlane } from "../telemetry/control-plane.ts";
import { ROOT } from "../telemetry/paths.ts";

const run = promisify(execFile);
const BLOCK = /^```sh drill=([a-z]+)\n([\s\S]*?)^```$/gm;

/** Runs the commands that docs/backup.md prints, as an operator would type them. */
export class Drill {
  readonly #plane: ControlPlane;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #admit: readonly string[];
  readonly #blocks: ReadonlyMap<string, readonly string[]>;

  private constructor(
    plane: ControlPlane,
    variables: Readonly<Record<string, string>>,
    admit: readonly string[],
    blocks: ReadonlyMap<string, readonly string[]>,
  ) {
    this.#plane = plane;
    this.#variables = variables;
    this.#admit = admit;
    this.#blocks = blocks;
  }

  /** Reads the page. `admit` are the commands that stand for `$ADMIT`. */
  static async open(
    plane: ControlPlane,
    variables: Readonly<Record<string, string>>,
    admit: readonly string[],
  ): Promise<Drill> {
    const page = await readFile(join(ROOT, "docs", "backup.md"), "utf8");
    const blocks = new Map(
      [...page.matchAll(BLOCK)].map(([, name = "", text = ""]) => [name, text.trim().split("\n")]),
    );
    return new Drill(plane, { STORE: plane.nats.storeDir, ...variables }, admit, blocks);
  }

  /** Runs one block of the page, with further values for its variables; gives what was printed. */
  async block(name: string, values: Readonly<Record<string, string>> = {}): Promise<string> {
    const lines = this.#blocks.get(name);
    if (lines === undefined) throw new Error(`docs/backup.md has no block "${name}"`);
    let printed = "";
    for (const line of lines) {
      for (const each of line === "$ADMIT" ? this.#admit : [line]) {
        printed += await this.#line(each, values);
      }
    }
    return printed;
  }

  async #line(line: string, values: Readonly<Record<string, string>>): Promise<string> {
    const { nats } = this.#plane;
    if (line === "systemctl stop nats-server") {
      await nats.kill();
      return "";
    }
    if (line === "systemctl start nats-server") {
      await nats.restart();
      await this.#plane.answering();
      return "";
    }
    const variables = { ...this.#variables, ...values };
    if (!line.startsWith("ringwall ")) {
      return (await run("sh", ["-euc", line], { env: { ...process.env, ...variables } })).stdout;
    }
    const words = line
      .replaceAll(/"?\$([A-Z]+)"?/g, (_, name: string) => variables[name] ?? "")
      .split(" ")
      .slice(1);
    return this.#plane.must(words);
  }
}
