import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectBus } from "@ringwall/bus/client";
import { eventually } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane } from "../telemetry/control-plane.ts";
import { ROLES, rules, settle, WORKLOADS } from "../telemetry/estate.ts";
import { Drill } from "./drill.ts";

let plane: ControlPlane;
let drill: Drill;
let directory = "";
let tree = "";

interface Line {
  readonly id: string;
  readonly version: number;
  readonly acked: number;
  readonly state: string;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-drill-"));
  tree = join(directory, "tree.yaml");
  plane = await ControlPlane.start({ workloads: WORKLOADS });
  const admit = Object.entries(ROLES).map(
    ([id, role]) => `ringwall workload admit ${id} --namespace shop app=shop role=${role}`,
  );
  drill = await Drill.open(plane, { BACKUP: directory, TREE: tree }, admit);
  await settle(plane);
}, 240_000);

afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
}, 60_000);

async function workloads(): Promise<readonly Line[]> {
  const { code, stdout } = await plane.ringwall(["get", "workloads", "--json"]);
  // The command's documented JSON form.
  return code === 0 ? (JSON.parse(stdout) as { workloads: Line[] }).workloads : [];
}

async function db(): Promise<Line | undefined> {
  return (await workloads()).find(({ id }) => id === "db-1");
}

/** The ports that db-1's host lets the web in on: what is in force there. */
async function enforced(): Promise<string> {
  const script = join(plane.directory, "agents", "db-1", "ringwall.nft");
  return /tcp dport (?:\{ )?(\d+)/.exec(await readFile(script, "utf8"))?.[1] ?? "none";
}

describe("the restore drill of docs/backup.md", () => {
  it("holds the hosts that know more than an old copy, and goes on when told to", async () => {
    await drill.block("backup");
    await plane.must(["apply", "-f", "-", "--wait=60"], rules(5433));
    const before = await db();
    expect(await enforced()).toBe("5433");

    await drill.block("restore");
    await eventually("db-1 is held", db, (line) => line?.state === "HELD");
    expect(await enforced()).toBe("5433");

    await writeFile(tree, rules(5434));
    await drill.block("accept", { COMMITS: "1" });
    await plane.synced(WORKLOADS.length);
    expect(await enforced()).toBe("5434");
    expect((await db())?.acked).toBeGreaterThan(before?.acked ?? Number.POSITIVE_INFINITY);
  }, 240_000);

  it("keeps every host's policy when the store is gone, and rebuilds it from the tree", async () => {
    await plane.nats.kill();
    await writeFile(tree, rules(5435));
    await drill.block("empty");
    await eventually("db-1 is held", db, (line) => line?.state === "HELD");
    expect(await enforced()).toBe("5434");

    await drill.block("rebuild");
    await plane.synced(WORKLOADS.length);
    expect(await enforced()).toBe("5435");
  }, 240_000);

  it("goes on when the files that the store has lost are applied again", async () => {
    const bus = await connectBus({ url: plane.nats.url, name: "drill", prefix: "rw" });
    await bus.jsm.streams.purge("rw-BLOBS");
    await bus.close();
    await plane.stop();
    await plane.startAll();
    const again = () => plane.ringwall(["apply", "-f", "-"], rules(5435));
    await eventually("the same files being applied", again, ({ code }) => code === 0);
    await plane.must(["apply", "-f", "-", "--wait=60"], rules(5436));
    expect(await enforced()).toBe("5436");
  }, 240_000);
});
