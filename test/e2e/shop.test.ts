import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { eventually, freePort } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { DevProcess, type DevWorkload } from "./dev-process.ts";
import { WatchProcess } from "./watch-process.ts";

interface Explanation {
  readonly allowed: boolean;
  readonly by: string;
  readonly rules: readonly { readonly ruleset: string; readonly name: string }[];
  readonly nearest?: { readonly ruleset: string; readonly misses: readonly { check: string }[] };
}

interface History {
  readonly versions: readonly {
    readonly version: number;
    readonly from: number;
    readonly changes: readonly string[];
  }[];
}

interface Listing {
  readonly workloads: readonly DevWorkload[];
}

const SERVICES = ["version-keeper", "registrar", "renderer", "agent-gateway", "agent"] as const;
const ENFORCED = ["cache-1", "db-1", "db-2", "db-3", "payments-1", "payments-2"];

interface Refusal {
  readonly error: { readonly findings: readonly { line: number; rule: string }[] };
}

const BAD_DOCUMENTS = `kind: Service
name: a
entries:
  - protocol: tcp
    ports: ["22"]
    port: 23
---
kind: Service
name: b
entries: [{ protocol: tcp }]
--- { kind: Service, name: b, entries: [{ protocol: udp }] }
---
kind: Ruleset
name: r
# whom it protects
scope: {}
rules:
  - peers:
      - cidr: 10.0.0.300/8
    entries: [{ protocol: tcp }]
`;

const service = (name: string) => `kind: Service\nname: ${name}\nentries: [{ protocol: udp }]\n`;

function versionsOf(workloads: readonly DevWorkload[]): Record<string, number> {
  return Object.fromEntries(workloads.map(({ id, version }) => [id, version]));
}

// Real processes on a machine that may be busy; on an idle one all of this takes half a minute.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
const DEADLINE_MS = 60_000;

/** One life of one control plane: the steps build on each other. */
describe("the shop", () => {
  let stateDir: string;
  let port: number;
  let dev: DevProcess;

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), "ringwall-e2e-"));
    port = await freePort();
    dev = new DevProcess(stateDir, port);
    await dev.synced();
  });

  afterAll(async () => {
    await dev.stop();
    await rm(stateDir, { recursive: true, force: true });
  });

  it("is SYNCED in every mode, with the workload that has no address among them", () => {
    expect(dev.workloads.length).toBeGreaterThanOrEqual(14);
    expect(dev.workloads.every(({ version, acked }) => version > 0 && acked === version)).toBe(
      true,
    );
    expect(new Set(dev.workloads.map(({ mode }) => mode))).toEqual(
      new Set(["visibility", "simulation", "enforced"]),
    );
    expect(dev.workloads.find(({ id }) => id === "batch-2")?.state).toBe("SYNCED");
  });

  it("moves a workload into a role: the affected advance by one, the others stay", async () => {
    const before = versionsOf(dev.workloads);
    const target = ["explain", "batch-1", "api-1", "8080/tcp"];
    expect(await dev.read<Explanation>(...target)).toMatchObject({
      by: "mode",
      nearest: { ruleset: "api", misses: [{ check: "peer" }] },
    });
    await using watch = await WatchProcess.start(dev);

    const label = ["label", "batch-1", "role=web", "--wait=60"];
    expect(await dev.read(...label)).toMatchObject({
      changed: [expect.stringContaining("batch-1")],
    });

    const affected = ["api-1", "api-2", "batch-1", "db-2", "db-3"];
    await eventually(
      "every affected workload is seen to advance and to acknowledge",
      () => affected.every((id) => watch.steps(id).length > 0 && watch.acks(id).length > 0),
      Boolean,
      DEADLINE_MS,
    );
    await dev.shows("the picture follows", (all) =>
      affected.every((id) => versionsOf(all)[id] === (before[id] ?? 0) + 1),
    );
    const after = versionsOf(dev.workloads);
    for (const [id, version] of Object.entries(before)) {
      expect({ id, version: after[id] }).toEqual({
        id,
        version: affected.includes(id) ? version + 1 : version,
      });
    }
    for (const api of ["api-1", "api-2"]) {
      expect(watch.steps(api)).toMatchObject([
        { changes: [expect.stringMatching(/^add peers \S+ \+10\.20\.8\.11\/32$/)] },
      ]);
    }
    for (const replica of ["db-2", "db-3"]) {
      expect(watch.steps(replica)).toMatchObject([
        { changes: [expect.stringMatching(/^remove peers \S+ -10\.20\.8\.11\/32$/)] },
      ]);
    }
    expect(await dev.read<Explanation>(...target)).toMatchObject({
      allowed: true,
      by: "rule",
      rules: [{ ruleset: "api", name: "from-web" }],
    });
  });

  it("shows the step in the workload's history and the commit in the configuration's", async () => {
    const { versions } = await dev.read<History>("history", "api-1");
    expect(versions[0]?.version).toBe((versions[0]?.from ?? 0) + 1);
    expect(versions[0]?.changes[0]).toMatch(/^add peers /);
    expect(await dev.read("history")).toMatchObject({
      commits: [{ message: "label batch-1 role=web" }, {}],
    });
  });

  it("answers explain for a denial, an address and a route", async () => {
    const [denial, address, route] = await Promise.all([
      dev.read("explain", "stg-api-1", "payments-1", "8444/tcp"),
      dev.read("explain", "10.200.3.4", "bastion-1", "22/tcp"),
      dev.read("explain", "route", "cart-1", "shop/payments"),
    ]);
    expect(denial).toMatchObject({ allowed: false, by: "none" });
    expect(address).toMatchObject({ allowed: true, by: "rule" });
    expect(route).toMatchObject({
      selected: { route: "shop/payments-cart-stable" },
      candidates: [
        { route: "shop/payments-cart-stable", outcome: "selected" },
        { route: "shop/payments-canary", outcome: "less-specific" },
        {},
      ],
    });
  });

  it("refuses bad documents with every finding, file and line", async () => {
    const file = join(stateDir, "bad.yaml");
    await writeFile(file, BAD_DOCUMENTS);
    const { code, stdout } = await dev.run("--json", "apply", "-f", file);
    expect(code).toBe(3);
    const { error }: Refusal = JSON.parse(stdout);
    expect(error.findings.map(({ line, rule }) => `${line} ${rule}`).sort()).toEqual([
      "11 duplicate-name",
      "16 selector-empty",
      "19 cidr",
      "6 key-unknown",
    ]);
  });

  it("lets one of several applies at once through; a repeated one loses nothing", async () => {
    const files = ["one", "two", "three"].map((name) => join(stateDir, `${name}.yaml`));
    await Promise.all(files.map((file) => writeFile(file, service(basename(file, ".yaml")))));
    const outcomes = await Promise.all(files.map((file) => dev.run("apply", "-f", file)));
    for (const { code, stderr } of outcomes) {
      expect([0, 6]).toContain(code);
      if (code === 6) expect(stderr).toMatch(/someone else applied meanwhile: \S+@\S+ at .*commit/);
    }
    expect(outcomes.some(({ code }) => code === 0)).toBe(true);
    await dev.read("apply", "-f", ...files);
    const { services } = await dev.read<{ services: { name: string }[] }>("get", "services");
    expect(services.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["one", "two", "three", "ssh"]),
    );
  });

  it("keeps versions and states when each service crashes, and nothing advances", async () => {
    const before = versionsOf(dev.workloads);
    for (const service of SERVICES) await dev.crash(service);
    await eventually(
      "every service is ready again",
      async () => {
        const { stdout } = await dev.run("--json", "status");
        return stdout;
      },
      (text) => /"converged": true/.test(text) && !/"ready": false/.test(text),
      DEADLINE_MS,
    );
    await dev.synced();
    expect(versionsOf(dev.workloads)).toEqual(before);
    await using watch = await WatchProcess.start(dev);
    await dev.read("label", "batch-1", "role=batch", "--wait=60");
    await eventually(
      "the next change is rendered",
      () => watch.steps("api-1").length > 0,
      Boolean,
      DEADLINE_MS,
    );
    expect(watch.steps("web-1")).toEqual([]);
    expect(versionsOf(dev.workloads)["web-1"]).toBe(before["web-1"]);
  });

  it("keeps versions over a restart of everything", async () => {
    const { workloads } = await dev.read<Listing>("get", "workloads");
    expect(await dev.stop()).toBe(0);
    dev = new DevProcess(stateDir, port);
    await dev.synced();
    expect(versionsOf(dev.workloads)).toEqual(versionsOf(workloads));
  });

  it("is held when its store is lost: nothing is pushed, every agent keeps its policy", async () => {
    const { workloads } = await dev.read<Listing>("get", "workloads");
    const before = versionsOf(workloads);
    expect(await dev.stop()).toBe(0);
    const policies = await policiesOf(stateDir);
    await rm(join(stateDir, "nats"), { recursive: true });

    dev = new DevProcess(stateDir, port);
    await dev.shows("every agent is held", (all) => all.every(({ state }) => state === "HELD"));

    expect(dev.steps.join("\n")).toContain("held");
    const { stdout } = await dev.run("status");
    expect(stdout).toMatch(/held|no commit/i);
    for (const id of ENFORCED) {
      const shown = dev.workloads.find((workload) => workload.id === id);
      expect(shown).toMatchObject({ version: 0, acked: before[id] });
    }
    expect(await policiesOf(stateDir)).toEqual(policies);
  });

  it("goes on once an operator accepts the loss", async () => {
    await dev.read("accept-state", "--expect", "0");
    await dev.read("apply", "-f", "examples/shop", "--wait=60");
    await dev.synced();
    expect(dev.workloads.every(({ version }) => version > 0)).toBe(true);
  });
});

/** Digests of the policies and rules that agents keep, by path. */
async function policiesOf(stateDir: string): Promise<Record<string, string>> {
  const root = join(stateDir, "agents");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /policy|\.nft$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const digests = files.sort().map(async (file) => {
    const digest = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    return [file, digest] as const;
  });
  return Object.fromEntries(await Promise.all(digests));
}
