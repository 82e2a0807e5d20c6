import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { eventually, freePort, type NatsServer, startNats } from "@ringwall/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

let directory: string;
let server: NatsServer | undefined;
let children: ChildProcess[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-agent-"));
  children = [];
  server = undefined;
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await server?.stop();
  await rm(directory, { recursive: true });
});

function start(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = new Promise<{ code: number | null; errors: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, errors }));
  });
  return { child, ended };
}

async function get(port: number, path: string) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: "" };
  }
}

describe("the agent as a process", () => {
  it("says what is wrong with its options and ends with 2", async () => {
    const { code, errors } = await start("--workload", "Web.1").ended;
    expect(code).toBe(2);
    expect(errors).toBe('agent: --workload "Web.1" is not 1 to 64 of [a-z0-9_-]\n');
    expect((await start().ended).errors).toContain("exactly one of --workload and --estate");
  });

  it("tells of every fault of an estate file at once", async () => {
    const estate = join(directory, "estate.json");
    await writeFile(estate, '[{"workload":"a","addresses":"x"},{"workload":"a"}]');
    const { code, errors } = await start("--estate", estate).ended;
    expect(code).toBe(2);
    expect(errors).toContain("[0].addresses: is not a list of strings");
    expect(errors).toContain('[1].workload: "a" is there twice');
  });

  it("ends with 1 when its state directory can't be written, before it dials", async () => {
    await writeFile(join(directory, "in-the-way"), "");
    const state = join(directory, "in-the-way", "state");
    const { code, errors } = await start("--workload", "web-1", "--state-dir", state).ended;
    expect(code).toBe(1);
    expect(errors).toContain("can't be written");
  });

  it("ends with 1 when another agent uses its state directory, until that one is gone", async () => {
    server = await startNats();
    const args = ["--workload", "web-1", "--state-dir", directory, "--nats-url", server.url];
    const first = start(...args);
    await eventually(
      "the lock",
      () => readdir(directory),
      (names) => names.includes("lock"),
    );
    const { code, errors } = await start(...args).ended;
    expect(code).toBe(1);
    expect(errors).toContain(`${directory} is used by process ${first.child.pid}; stop that agent`);
    first.child.kill("SIGKILL");
    await first.ended;
    const port = await freePort();
    start(...args, "--http-port", String(port), "--http-host", "127.0.0.1");
    await eventually(
      "the next one to live",
      () => get(port, "/livez"),
      ({ status }) => status === 200,
    );
  });

  it("ends with 1 when NATS is away and it was asked not to wait", async () => {
    const url = `nats://127.0.0.1:${await freePort()}`;
    const { code, errors } = await start(
      ...["--workload", "web-1", "--state-dir", directory, "--nats-url", url, "--fail-fast"],
    ).ended;
    expect(code).toBe(1);
    expect(errors).toContain("is not reachable");
  });

  it("says Hello for every workload of an estate and ends cleanly on SIGTERM", async () => {
    server = await startNats();
    const port = await freePort();
    const estate = join(directory, "estate.json");
    await writeFile(estate, '[{"workload":"a"},{"workload":"b","services":["shop/b"]}]');
    const { child, ended } = start(
      ...["--estate", estate, "--state-dir", join(directory, "state"), "--connections", "2"],
      ...["--nats-url", server.url, "--http-port", String(port), "--http-host", "127.0.0.1"],
    );
    const ready = await eventually(
      "both agents dial",
      () => get(port, "/readyz"),
      ({ text }) => text.includes("b has no session"),
      60_000,
    );
    expect(ready.status).toBe(503);
    const status: unknown = JSON.parse((await get(port, "/status")).text);
    expect(status).toMatchObject([{ workload: "a", version: "0" }, { workload: "b" }]);
    expect((await get(port, "/livez")).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, errors: "" });
  });
});
