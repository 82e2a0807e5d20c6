/**
 * `pnpm containers` builds the image, starts deploy/docker-compose.yml as a project of its own and
 * tries what it promises: every agent SYNCED, allowed and denied connections between containers, any
 * service or instance killed, nothing left behind. Ends with `N passed, M failed`; without a Docker
 * engine it is skipped and says why.
 */
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { Compose } from "./compose.ts";
import { type Attempt, connectFrom, listenIn } from "./connection.ts";
import { provideEngine } from "./engine.ts";
import { FAILURES, tryFailure } from "./failures.ts";
import { Operator } from "./operator.ts";
import { run } from "./process.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PROJECT = "ringwall-containers";
const IMAGE = "ringwall:containers";
const FLEET = "172.30.79";
const AGENTS = 4;
const SYNCED_MS = 60_000;

/** Who calls whom, and what the example's rules make of it. */
const CONNECTIONS: readonly (readonly [string, string, number, Attempt])[] = [
  ["api-1", "db-1", 5432, "open"],
  ["web-1", "api-1", 8080, "open"],
  ["bastion-1", "db-1", 22, "open"],
  ["web-1", "db-1", 5432, "silent"],
  ["api-1", "db-1", 22, "silent"],
  ["db-1", "api-1", 8080, "silent"],
];
const ADDRESSES: Readonly<Record<string, string>> = {
  "web-1": `${FLEET}.11`,
  "api-1": `${FLEET}.12`,
  "db-1": `${FLEET}.13`,
  "bastion-1": `${FLEET}.14`,
};

let passed = 0;
let failed = 0;

/** Runs one check; true if it holds. What it gives is shown beside its time. */
async function check(name: string, work: () => Promise<unknown>): Promise<boolean> {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
  try {
    const result = await work();
    const detail = typeof result === "string" ? result : "";
    passed += 1;
    process.stdout.write(`ok    ${name} (${seconds()}${detail})\n`);
    return true;
  } catch (error) {
    failed += 1;
    const reason = error instanceof Error ? error.message : String(error);
    process.stdout.write(
      `FAIL  ${name} (${seconds()})\n      ${reason.replaceAll("\n", "\n      ")}\n`,
    );
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

async function reportImage(): Promise<void> {
  const [image, base] = await Promise.all(
    [IMAGE, "node:24-slim"].map(async (tag) => {
      const { stdout } = await run("docker", ["image", "inspect", "-f", "{{.Size}}", tag]);
      return Number(stdout.trim()) / 1e6;
    }),
  );
  const own = (image ?? 0) - (base ?? 0);
  process.stdout.write(
    `      image: ${image?.toFixed(0)} MB, of which ${own.toFixed(1)} MB above node:24-slim\n`,
  );
}

/** Seconds from a container's start to its first healthy check, the longest of each service. */
async function reportStartUp(compose: Compose, upSeconds: number): Promise<void> {
  const format = "{{.State.StartedAt}} {{range .State.Health.Log}}{{.ExitCode}}@{{.Start}}|{{end}}";
  const times = await Promise.all(
    ["registrar", "renderer", "version-keeper", "agent-gateway", "web-1"].map(async (service) => {
      const ids = await compose.containers(service);
      const { stdout } = await run("docker", ["inspect", "-f", format, ...ids]);
      return `${service} ${slowest(stdout).toFixed(1)} s`;
    }),
  );
  process.stdout.write(
    `      up to all healthy: ${upSeconds.toFixed(1)} s; start to ready: ${times.join(", ")}\n`,
  );
}

function slowest(inspected: string): number {
  const seconds = inspected
    .trim()
    .split("\n")
    .map((line) => {
      const [started = "", ...log] = line.split(" ");
      const healthy = /(?:^|\|)0@(\S+ \S+) (\S+)/.exec(log.join(" "));
      const at = healthy === null ? Number.NaN : Date.parse(`${healthy[1]} ${healthy[2]}`);
      return (at - Date.parse(started)) / 1000;
    });
  return Math.max(...seconds);
}

async function main(): Promise<void> {
  const problem = await provideEngine(ROOT);
  if (problem !== undefined) {
    process.stdout.write(`skipped: ${problem}\n0 passed, 0 failed, 1 skipped\n`);
    return;
  }
  const natsPort = await freePort();
  const compose = new Compose({
    root: ROOT,
    project: PROJECT,
    image: IMAGE,
    natsPort,
    fleet: FLEET,
  });
  const password = process.env.RINGWALL_CONTROL_PASSWORD ?? "control-local";
  const operator = new Operator(ROOT, `nats://control:${password}@127.0.0.1:${natsPort}`);
  await compose.down();
  try {
    const built = await check("the image is built", () => compose.build());
    if (built && (await start(compose))) await tryAll(compose, operator);
    if (failed > 0) await showLogs(compose);
  } finally {
    await check("down -v leaves nothing", async () => {
      await compose.down();
      const left = await compose.leftovers();
      if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    });
    await run("docker", ["image", "rm", "-f", IMAGE]);
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

async function start(compose: Compose): Promise<boolean> {
  await reportImage();
  const began = performance.now();
  const up = await check("up --wait ends with everything healthy", () => compose.upAll());
  if (up) await reportStartUp(compose, (performance.now() - began) / 1000);
  return up;
}

async function tryAll(compose: Compose, operator: Operator): Promise<void> {
  await check("ringwall from the host sees every agent SYNCED", () =>
    operator.allSynced(AGENTS, SYNCED_MS),
  );
  const listen = () => listenIn(compose, "db-1", [5432, 22]);
  // The agents themselves listen on 8080.
  await listen();
  for (const [from, to, port, wanted] of CONNECTIONS) {
    await check(`${from} → ${to}:${port} is ${wanted}`, async () => {
      const attempt = await connectFrom(compose, from, ADDRESSES[to] ?? "", port);
      if (attempt !== wanted) throw new Error(`it is ${attempt}`);
    });
  }
  const scene = { compose, operator, dbAddress: ADDRESSES["db-1"] ?? "", listen };
  let allowed = false;
  for (const failure of FAILURES) {
    allowed = !allowed;
    await check(`${failure.name} killed, then an apply: converges`, () =>
      tryFailure(scene, failure, allowed),
    );
  }
  await check("every agent is SYNCED in the end", () => operator.allSynced(AGENTS, SYNCED_MS));
}

async function showLogs(compose: Compose): Promise<void> {
  const { stdout } = await compose.try(["logs", "--no-color", "--tail", "15"]);
  process.stdout.write(`${stdout}\n`);
}

await main();
