import { type ChildProcess, spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { eventually } from "@ringwall/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cleanEnvironment, MAIN, ROOT, runCommand } from "../e2e/command.ts";
import { kernelSuite } from "./kernel-suite.ts";

interface Matrix {
  readonly event: string;
  readonly natsUrl?: string;
  readonly tried: number;
  readonly passed: number;
  readonly modes: Readonly<Record<string, string>>;
  readonly mismatches: readonly unknown[];
}

const DEADLINE_MS = 240_000;

kernelSuite("ringwall demo --kernel", () => {
  let child: ChildProcess;
  let ended: Promise<number | null>;
  let errors = "";
  let before: readonly string[];
  const events: Matrix[] = [];

  beforeAll(async () => {
    before = await traces();
    child = spawn(process.execPath, [MAIN, "--json", "demo", "--kernel"], {
      cwd: ROOT,
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    ended = new Promise((resolve) => child.once("close", resolve));
    if (child.stdout !== null) {
      createInterface({ input: child.stdout }).on("line", (line) => events.push(JSON.parse(line)));
    }
    child.stderr?.setEncoding("utf8").on("data", (part: string) => {
      errors += part;
    });
  });

  afterAll(() => {
    child.kill("SIGKILL");
  });

  const shows = (what: string, holds: (matrix: Matrix) => boolean) =>
    eventually(
      what,
      () => {
        if (child.exitCode !== null) throw new Error(`it ended: ${errors}`);
        return events.filter(({ event }) => event === "matrix").at(-1);
      },
      (matrix) => matrix !== undefined && holds(matrix),
      DEADLINE_MS,
    );

  it("shows that what is declared is what happens", { timeout: DEADLINE_MS }, async () => {
    const matrix = await shows("a whole look", () => true);
    expect(matrix?.mismatches).toEqual([]);
    expect(matrix?.tried).toBeGreaterThan(1000);
    expect(new Set(Object.values(matrix?.modes ?? {}))).toEqual(
      new Set(["visibility", "simulation", "enforced"]),
    );
  });

  it("follows a change of mode with real packets", { timeout: DEADLINE_MS }, async () => {
    const passed = events.filter(({ event }) => event === "matrix").at(-1)?.passed ?? 0;
    const natsUrl = events.find(({ event }) => event === "started")?.natsUrl ?? "";
    const change = await runCommand([
      "--nats-url",
      natsUrl,
      "mode",
      "role=web,env=prod",
      "enforced",
      "--expect",
      "2",
    ]);
    expect(change.stderr).toBe("");
    expect(change.code).toBe(0);
    const matrix = await shows("fewer connections pass", (each) => each.passed < passed);
    expect(matrix?.modes["web-1"]).toBe("enforced");
    expect(matrix?.mismatches).toEqual([]);
  });

  it("leaves nothing behind after Ctrl-C", { timeout: DEADLINE_MS }, async () => {
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(await traces()).toEqual(before);
  });
});

/** Namespaces and directories that a demonstration makes. */
async function traces(): Promise<readonly string[]> {
  const netns = await readdir("/var/run/netns").catch(() => []);
  const directories = await readdir(tmpdir());
  return [
    ...netns.filter((name) => name.startsWith("rwlab")),
    ...directories.filter((name) => name.startsWith("ringwall-demo-")),
  ].sort();
}
