import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { bodyDigest, canonical } from "@ringwall/rendered";
import { EnforcementMode, InputsSchema, WorkloadPolicySchema } from "@ringwall/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyPolicy } from "../apply.ts";
import { MemoryBackend } from "../backend/memory-backend.ts";
import { boot } from "../boot.ts";
import type { PolicyRecord } from "../record.ts";
import { FileStore } from "./file-store.ts";

let directory: string;
let store: FileStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "ringwall-store-"));
  store = new FileStore("web-1", directory);
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function record(version: bigint, workload = "web-1"): PolicyRecord {
  const policy = canonical(
    create(WorkloadPolicySchema, {
      version,
      mode: EnforcementMode.ENFORCED,
      inboundRules: [{ ruleId: `r${version}/tcp`, peerCidrs: ["10.0.0.1/32"], protocol: 1 }],
    }),
  );
  const inputs = create(InputsSchema, { generation: 5n, configSequence: version });
  return { workload, epoch: 2n, digest: bodyDigest(policy), inputs, policy };
}

async function save(saved: PolicyRecord): Promise<void> {
  await store.prepare(saved);
  await store.commit();
}

describe("FileStore", () => {
  it("gives back what was stored: policy, epoch, inputs, refused bodies", async () => {
    await save(record(3n));
    await store.saveRefused([record(9n).digest]);
    const state = await new FileStore("web-1", directory).load();
    expect(state.record).toEqual(record(3n));
    expect(state.refused).toEqual([record(9n).digest]);
    expect(state.faults).toEqual([]);
  });

  it("is empty without a fault in a new directory", async () => {
    expect(await store.load()).toEqual({ record: undefined, refused: [], faults: [] });
  });

  it("does not count a prepared policy as good", async () => {
    await save(record(1n));
    await store.prepare(record(2n));
    expect((await store.load()).record?.policy.version).toBe(1n);
  });

  it.each([
    ["truncated", (path: string) => truncate(path, 60)],
    ["empty", (path: string) => truncate(path, 0)],
    [
      "foreign",
      (path: string) => writeFile(path, "something else that is long enough for a header"),
    ],
    [
      "altered",
      async (path: string) => {
        const bytes = await readFile(path);
        bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
        await writeFile(path, bytes);
      },
    ],
  ])("uses the one before when the last is %s, and says so", async (_name, damage) => {
    await save(record(1n));
    await save(record(2n));
    await damage(join(directory, "policy"));
    const state = await store.load();
    expect(state.record?.policy.version).toBe(1n);
    expect(state.faults.join()).toContain("damaged");
  });

  it("has nothing when both are damaged, and says that the host is left alone", async () => {
    await save(record(1n));
    await save(record(2n));
    await truncate(join(directory, "policy"), 3);
    await truncate(join(directory, "policy.before"), 3);
    const state = await store.load();
    expect(state.record).toBeUndefined();
    expect(state.faults.at(-1)).toContain("host is left as it is");
  });

  it("does not put a damaged policy in the place of the good one before it", async () => {
    await save(record(1n));
    await save(record(2n));
    await truncate(join(directory, "policy"), 60);
    expect((await store.load()).record?.policy.version).toBe(1n);
    await save(record(3n));
    await truncate(join(directory, "policy"), 60);
    expect((await new FileStore("web-1", directory).load()).record?.policy.version).toBe(1n);
  });

  it("refuses another workload's policy", async () => {
    const other = new FileStore("web-2", directory);
    await other.prepare(record(1n, "web-2"));
    await other.commit();
    expect((await store.load()).faults[0]).toContain('belongs to workload "web-2"');
  });

  it("leaves no temporary file behind", async () => {
    await store.probe();
    await save(record(1n));
    await save(record(2n));
    expect((await readdir(directory)).sort()).toEqual(["policy", "policy.before"]);
  });
});

describe("an unwritable store", () => {
  it("fails the apply before the backend is asked anything", async () => {
    const backend = new MemoryBackend();
    const unwritable = new FileStore("web-1", join(directory, "file-in-the-way"));
    await writeFile(join(directory, "file-in-the-way"), "");
    const order = { record: record(1n), previous: undefined, installed: false };
    const outcome = await applyPolicy(backend, unwritable, order);
    expect(outcome.kind).toBe("failed");
    expect(backend.installs).toBe(0);
  });

  it("fails the boot of a host that has no policy yet", async () => {
    const backend = new MemoryBackend();
    await writeFile(join(directory, "file-in-the-way"), "");
    const unwritable = new FileStore("web-1", join(directory, "file-in-the-way", "state"));
    await expect(boot(unwritable, backend)).rejects.toMatchObject({ code: "store-unwritable" });
    expect(backend.installs).toBe(0);
  });

  it("does not keep the stored policy out of force, and is a fault of the boot", async () => {
    await save(record(4n));
    await mkdir(join(directory, "probe.tmp"));
    const backend = new MemoryBackend();
    const state = await boot(store, backend);
    expect(state).toMatchObject({ installed: true, record: { policy: { version: 4n } } });
    expect(state.faults.join()).toContain("can't be written");
    expect(backend.policy?.version).toBe(4n);
  });

  it("keeps ruleset and files as they were when the body is refused", async () => {
    const backend = new MemoryBackend();
    const first = { record: record(1n), previous: undefined, installed: false };
    await applyPolicy(backend, store, first);
    backend.refuses.add(record(2n).digest);
    const second = { record: record(2n), previous: record(1n).policy, installed: false };
    expect((await applyPolicy(backend, store, second)).kind).toBe("refused");
    expect(backend.policy?.version).toBe(1n);
    expect((await store.load()).record?.policy.version).toBe(1n);
  });

  it("boots the last good policy into the backend", async () => {
    await save(record(4n));
    const backend = new MemoryBackend();
    const state = await boot(store, backend);
    expect(state.installed).toBe(true);
    expect(backend.policy?.version).toBe(4n);
  });
});
