import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane } from "./control-plane.ts";
import { rules, settle, WORKLOADS } from "./estate.ts";

let plane: ControlPlane;

beforeAll(async () => {
  plane = await ControlPlane.start({ workloads: WORKLOADS });
  await settle(plane);
}, 240_000);

afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
}, 60_000);

interface Trace {
  readonly commit: { readonly sequence: number; readonly storedAt: number };
  readonly hops: readonly {
    readonly hop: string;
    readonly done: number;
    readonly of: number;
    readonly lastMs: number | null;
    readonly tookMs: number | null;
  }[];
  readonly workloads: readonly {
    readonly id: string;
    readonly fromVersion: number;
    readonly version: number;
    readonly ackedAt: number | null;
    readonly state: string;
  }[];
}

/** Traces a commit once STATUS shows the acknowledgements, at most a second after they came. */
async function traced(commit: string): Promise<Trace> {
  for (let attempt = 0; ; attempt += 1) {
    // The command's documented JSON form.
    const trace = JSON.parse(await plane.must(["trace", commit, "--json"])) as Trace;
    const acked = trace.hops.at(-1);
    if (acked?.done === acked?.of || attempt === 20) return trace;
  }
}

describe("ringwall trace", () => {
  it("follows a commit to the acknowledgement, with times that add up", async () => {
    await plane.must(["apply", "-f", "-", "--wait=60"], rules(5433));
    const { commit, hops, workloads } = await traced("2");
    expect(commit.sequence).toBe(2);
    expect(hops.map(({ hop, done, of }) => [hop, done, of])).toEqual([
      ["rendered", 64, 64],
      ["versioned", 64, 64],
      ["acked", 1, 1],
    ]);
    const sum = hops.reduce((total, { tookMs }) => total + (tookMs ?? Number.NaN), 0);
    expect(sum).toBe(hops.at(-1)?.lastMs);
    const [db] = workloads;
    expect(workloads.map(({ id, state }) => [id, state])).toEqual([["db-1", "SYNCED"]]);
    expect(db?.version).toBe((db?.fromVersion ?? 0) + 1);
    expect(db?.ackedAt).toBeGreaterThanOrEqual(commit.storedAt);
  });

  it("says that a workload has gone on since", async () => {
    await plane.must(["apply", "-f", "-", "--wait=60"], rules(5434));
    const text = await plane.must(["trace", "2"]);
    expect(text).toMatch(/db-1 .*has gone on to version/);
  });

  it("refuses a commit that is none, and says where they are listed", async () => {
    const { code, stderr } = await plane.ringwall(["trace", "99"]);
    expect(code).toBe(2);
    expect(stderr).toContain("ringwall history");
  });
});

describe("ringwall doctor", () => {
  it("finds a healthy control plane fine, apart from single instances", async () => {
    const { code, stdout } = await plane.ringwall(["doctor", "--json"]);
    // The command's documented JSON form.
    const { checks } = JSON.parse(stdout) as {
      checks: { subject: string; verdict: string; found: string }[];
    };
    const verdicts = new Map(checks.map(({ subject, verdict }) => [subject, verdict]));
    expect(checks.filter(({ verdict }) => verdict === "fail")).toEqual([]);
    expect(code).toBe(0);
    for (const subject of [
      "nats-server",
      "max_payload",
      "clock",
      "streams",
      "versions",
      "agents",
    ]) {
      expect([subject, verdicts.get(subject)]).toEqual([subject, "ok"]);
    }
    expect(verdicts.get("renderer")).toBe("warn");
  });

  it("says what to do when a service is away, and ends with 6", async () => {
    await plane.stop(["renderer"]);
    const { code, stdout } = await plane.ringwall(["doctor"]);
    expect(code).toBe(6);
    expect(stdout).toContain("start the renderer");
    await plane.startAll();
  });

  it("says that NATS is away without waiting for it", async () => {
    const url = ["--nats-url", "nats://127.0.0.1:9"];
    const { code, stdout } = await plane.ringwall([...url, "doctor"]);
    expect(code).toBe(6);
    expect(stdout).toMatch(/✗ NATS/);
  });

  it("checks only the host when told so", async () => {
    const { stdout } = await plane.ringwall(["doctor", "--host"]);
    expect(stdout).toMatch(/✓ node/);
    expect(stdout).not.toContain("nats-server");
  });
});
