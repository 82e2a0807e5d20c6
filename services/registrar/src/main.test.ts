import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { eventually, freePort, type NatsServer, startNats } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

interface Run {
  readonly child: ChildProcess;
  output(): string;
}

function run(...flags: string[]): Run {
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...flags]);
  const chunks: string[] = [];
  child.stdout.on("data", (chunk) => chunks.push(String(chunk)));
  child.stderr.on("data", (chunk) => chunks.push(String(chunk)));
  return { child, output: () => chunks.join("") };
}

async function exitCode({ child }: Run): Promise<number | null> {
  if (child.exitCode === null) {
    await once(child, "exit");
  }
  return child.exitCode;
}

async function status(url: string): Promise<number> {
  try {
    return (await fetch(url)).status;
  } catch {
    return 0;
  }
}

describe("the registrar's process", () => {
  it("becomes ready, serves metrics and ends cleanly on SIGTERM", async () => {
    const port = await freePort();
    const registrar = run("--nats-url", nats.url, "--http-port", String(port), "--prefix", "m1");
    const base = `http://127.0.0.1:${port}`;
    await eventually(
      "readiness",
      () => status(`${base}/readyz`),
      (code) => code === 200,
      60_000,
    );
    expect(await status(`${base}/livez`)).toBe(200);
    const metrics = await (await fetch(`${base}/metrics`)).text();
    for (const reason of ["no_port_protocols", "port_not_typed", "port_not_listed"]) {
      expect(metrics).toContain(`ringwall_refused_rows_total{reason="${reason}"} 0`);
    }
    registrar.child.kill("SIGTERM");
    expect(await exitCode(registrar)).toBe(0);
  });

  it("says which option is wrong and exits with 2", async () => {
    const registrar = run("--nats-url", nats.url, "--prefix", "m2", "--stale-after-ms", "soon");
    expect(await exitCode(registrar)).toBe(2);
    expect(registrar.output()).toContain('--stale-after-ms is "soon"');
  });
});
