import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { bodyDigest, canonical } from "@ringwall/rendered";
import {
  AckStatus,
  DownSchema,
  EnforcementMode,
  HelloAckSchema,
  type Up,
  UpSchema,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryBackend } from "../backend/memory-backend.ts";
import { digestBytes } from "../digest.ts";
import { MemoryStore } from "../store/memory-store.ts";
import { AgentHost } from "./agent-host.ts";
import type { AgentTransport } from "./transport.ts";

const POLICY = canonical(
  create(WorkloadPolicySchema, { version: 3n, mode: EnforcementMode.ENFORCED }),
);
const RECORD = {
  workload: "web-1",
  epoch: 1n,
  digest: bodyDigest(POLICY),
  inputs: undefined,
  policy: POLICY,
};

/** A bus with nobody else on it. */
class Wire implements AgentTransport {
  readonly ups: { readonly subject: string; readonly up: Up }[] = [];
  readonly listeners = new Map<string, (payload: Uint8Array) => void>();
  readonly reconnects: (() => void)[] = [];
  failing = false;

  publish(subject: string, payload: Uint8Array): void {
    if (this.failing) {
      throw new Error("connection is draining");
    }
    this.ups.push({ subject, up: fromBinary(UpSchema, payload) });
  }

  subscribe(subject: string, take: (payload: Uint8Array) => void): () => void {
    this.listeners.set(subject, take);
    return () => this.listeners.delete(subject);
  }

  onReconnect(call: () => void): void {
    this.reconnects.push(call);
  }
}

let wire: Wire;
let logged: string[];
let host: AgentHost;

beforeEach(() => {
  wire = new Wire();
  logged = [];
  host = new AgentHost({
    agentVersion: "test",
    subjects: (id) => ({ hello: `${id}.hello`, down: `${id}.down`, up: (gw) => `${id}.up.${gw}` }),
    log: (_level, message) => logged.push(message),
  });
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await Promise.resolve();
  }
}

describe("AgentHost", () => {
  it("has the stored policy in force before anything is dialled", async () => {
    const store = new MemoryStore();
    await store.prepare(RECORD);
    await store.commit();
    const backend = new MemoryBackend();
    const agent = await host.add({ workload: "web-1", store, backend });
    expect(backend.policy).toBe(POLICY);
    expect(wire.ups).toEqual([]);
    host.open([wire]);
    expect(wire.ups[0]?.up.body).toMatchObject({ case: "hello", value: { appliedVersion: 3n } });
    expect(agent.status).toMatchObject({ version: 3n, installed: true, phase: "dialling" });
    await host.stop();
  });

  it("takes a push, stores it, and acknowledges it to its gateway", async () => {
    const store = new MemoryStore();
    const agent = await host.add({ workload: "web-1", store, backend: new MemoryBackend() });
    host.open([wire]);
    const hello = wire.ups[0]?.up.body;
    const down = wire.listeners.get("web-1.down");
    const nonce = hello?.case === "hello" ? hello.value.nonce : 0n;
    const ack = create(HelloAckSchema, { nonce, gateway: "gw1" });
    const frame = { workloadId: "web-1", session: 5n };
    down?.(
      toBinary(
        DownSchema,
        create(DownSchema, { ...frame, seq: 1n, body: { case: "helloAck", value: ack } }),
      ),
    );
    const push = create(DownSchema, {
      ...frame,
      seq: 2n,
      epoch: 1n,
      headVersion: 3n,
      digest: digestBytes(RECORD.digest),
      body: { case: "snapshot", value: POLICY },
    });
    down?.(toBinary(DownSchema, push));
    await settled();
    expect(wire.ups.at(-1)).toMatchObject({
      subject: "web-1.up.gw1",
      up: { session: 5n, body: { case: "ack", value: { status: AckStatus.APPLIED } } },
    });
    expect((await store.load()).record?.policy.version).toBe(3n);
    expect(agent.status.version).toBe(3n);
    await host.stop();
  });

  it("refuses a workload that runs here already", async () => {
    const parts = { store: new MemoryStore(), backend: new MemoryBackend() };
    await host.add({ workload: "web-1", ...parts });
    await expect(host.add({ workload: "web-1", ...parts })).rejects.toMatchObject({
      code: "estate-invalid",
    });
  });

  it("goes on when a message can't be sent, and says so", async () => {
    await host.add({
      workload: "web-1",
      store: new MemoryStore(),
      backend: new MemoryBackend(),
    });
    wire.failing = true;
    host.open([wire]);
    expect(logged).toContain("a message could not be sent");
    wire.failing = false;
    const agent = host.get("web-1");
    expect(agent?.status.phase).toBe("dialling");
    await host.stop();
  });

  it("listens no more after it was stopped", async () => {
    await host.add({
      workload: "web-1",
      store: new MemoryStore(),
      backend: new MemoryBackend(),
    });
    host.open([wire]);
    await host.stop();
    expect(wire.listeners.size).toBe(0);
  });
});
