import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { eventually, startNats } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanEnvironment, ROOT, runCommand } from "./command.ts";

const PLANES = [
  { prefix: "shop-prod", environment: "prod" },
  { prefix: "shop-staging", environment: "staging" },
] as const;
const SERVICES = ["registrar", "renderer", "version-keeper", "agent-gateway"];
const REPO = join(ROOT, "examples/shop");

describe("two control planes on one NATS", { timeout: 120_000 }, () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    nats = await startNats();
    for (const { prefix, environment } of PLANES) {
      for (const service of SERVICES) {
        const main = join(ROOT, "services", service, "src/main.ts");
        const options = ["--nats-url", nats.url, "--prefix", prefix, "--env", environment];
        const env = cleanEnvironment();
        children.push(spawn(process.execPath, [main, ...options], { stdio: "ignore", env }));
      }
    }
  });

  afterAll(async () => {
    await Promise.all(
      children.map((child) => {
        const ended = new Promise((resolve) => child.once("close", resolve));
        child.kill("SIGTERM");
        return ended;
      }),
    );
    await nats.stop();
  });

  const run = (plane: (typeof PLANES)[number], ...args: readonly string[]) =>
    runCommand([
      ...["--nats-url", nats.url, "--prefix", plane.prefix, "--env", plane.environment, "--json"],
      ...args,
    ]);

  it("hold one repo's two environments side by side", async () => {
    for (const plane of PLANES) {
      const at = ["--repo", REPO, "--env", plane.environment];
      await eventually(
        `the ${plane.environment} environment is applied`,
        async () => await run(plane, "apply", ...at),
        ({ code }) => code === 0,
        60_000,
      );
      expect((await run(plane, "plan", ...at, "--check")).code).toBe(0);
      expect((await run(plane, "verify", ...at)).code).toBe(0);
    }
    const [prod, staging] = await Promise.all(PLANES.map((plane) => run(plane, "get", "groups")));
    expect(JSON.parse(prod?.stdout ?? "")).not.toEqual(JSON.parse(staging?.stdout ?? ""));
  });

  it("do not take each other's environment", async () => {
    const [prod] = PLANES;
    const refused = await run(prod, "apply", "--repo", REPO, "--env", "staging");
    expect(refused.code).not.toBe(0);
    expect((await run(prod, "plan", "--repo", REPO, "--env", "prod", "--check")).code).toBe(0);
  });
});
