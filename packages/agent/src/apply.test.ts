import { create } from "@bufbuild/protobuf";
import { bodyDigest, canonical } from "@ringwall/rendered";
import { EnforcementMode, WorkloadPolicySchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { applyPolicy } from "./apply.ts";
import { MemoryBackend } from "./backend/memory-backend.ts";
import { AgentError } from "./errors.ts";
import { MemoryStore } from "./store/memory-store.ts";

const POLICY = canonical(
  create(WorkloadPolicySchema, { version: 1n, mode: EnforcementMode.ENFORCED }),
);
const RECORD = {
  workload: "web-1",
  epoch: 1n,
  digest: bodyDigest(POLICY),
  inputs: undefined,
  policy: POLICY,
};

/** Puts the policy in force on a store of which one step fails. */
async function applyWith(fails: "prepare" | "commit" | "nothing", installed = false) {
  const backend = new MemoryBackend();
  const store = new MemoryStore();
  if (fails !== "nothing") {
    store[fails] = () => Promise.reject(new AgentError("store-unwritable", "disk full"));
  }
  const outcome = await applyPolicy(backend, store, {
    record: RECORD,
    previous: undefined,
    installed,
  });
  return { outcome, installs: backend.installs };
}

describe("an apply on a host whose disk is full", () => {
  it("touches nothing if that shows beforehand", async () => {
    const { outcome, installs } = await applyWith("prepare");
    expect(outcome).toMatchObject({ kind: "failed", mayBeInForce: false });
    expect(installs).toBe(0);
  });

  it("says that the policy may be in force if it shows afterwards", async () => {
    const { outcome, installs } = await applyWith("commit");
    expect(outcome).toMatchObject({ kind: "failed", mayBeInForce: true });
    expect(installs).toBe(1);
  });

  it("changes nothing where the body was in force before", async () => {
    const { outcome } = await applyWith("commit", true);
    expect(outcome).toMatchObject({ kind: "failed", mayBeInForce: false });
  });

  it("is applied where nothing fails", async () => {
    expect((await applyWith("nothing")).outcome).toEqual({ kind: "applied" });
  });
});
