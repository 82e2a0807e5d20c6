import { create, toBinary } from "@bufbuild/protobuf";
import { headers } from "@nats-io/nats-core";
import { AgentHost, MemoryBackend, MemoryStore, natsTransport } from "@ringwall/agent";
import {
  api,
  type Bus,
  connectBus,
  type RunningService,
  serviceOptions,
  startService,
  watch,
} from "@ringwall/bus";
import { bodyDigest, canonical, withVersion } from "@ringwall/rendered";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import {
  AgentState,
  ConvergenceRequestSchema,
  ConvergenceResponseSchema,
  EnforcementMode,
  ListStatusRequestSchema,
  ListStatusResponseSchema,
  Protocol,
  ResolvedRuleSchema,
  type VersionEvent,
  WatchVersionsRequestSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGateway } from "./gateway.ts";
import {
  advance,
  batch,
  body,
  commit,
  type Entry,
  epoch,
  inputsAt,
  registered,
  stored,
} from "./testing/records.ts";

const W = "web-1";
const A = body("10.0.0.1/32");
const B = body("10.0.0.2/32");

let server: NatsServer;
let bus: Bus;
let gateways: RunningService[];
let hosts: AgentHost[];

beforeEach(async () => {
  server = await startNats();
  gateways = [];
  hosts = [];
  bus = await connectBus({ url: server.url, name: "test" });
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await bus.close();
  await server.stop();
});

async function startGateway(instance: string): Promise<RunningService> {
  const gateway = await startService({
    service: "agent-gateway",
    description: "test",
    options: {
      ...serviceOptions(["--nats-url", server.url, "--instance", instance], {}),
      own: { heartbeatMs: "1000" },
    },
    create: createGateway,
    logDestination: { write: () => undefined },
  });
  gateways.push(gateway);
  return gateway;
}

async function append(...entries: Entry[]): Promise<void> {
  for (const { subject, payload, headers: plain } of entries) {
    const wire = headers();
    for (const [name, value] of Object.entries(plain ?? {})) wire.set(name, value);
    const answer = await bus.nc.request(subject, payload, { headers: wire, timeout: 5000 });
    const ack = answer.json<{ error?: { description: string } }>();
    if (ack.error !== undefined) throw new Error(ack.error.description);
  }
}

/** A control plane with one commit and version 1 of a workload. */
async function seed(policy: WorkloadPolicy, workload = W): Promise<void> {
  await append(
    commit("rw", 1),
    registered("rw", workload),
    ...stored("rw", policy),
    epoch("rw", workload, 1n, { inputs: inputsAt(1) }),
    advance("rw", workload, undefined, { version: 1, policy }),
  );
}

async function startAgent(workload = W, url = server.url) {
  const connection = await connectBus({ url, name: "agent" });
  const host = new AgentHost({
    agentVersion: "test",
    subjects: (id) => ({
      hello: bus.names.agentHello(id),
      down: bus.names.agentDown(id),
      up: (gateway) => bus.names.agentUp(id, gateway),
    }),
  });
  const backend = new MemoryBackend();
  const agent = await host.add({ workload, store: new MemoryStore(), backend });
  host.open([natsTransport(connection.nc)]);
  hosts.push(host);
  return { agent, backend, connection };
}

async function list() {
  const { workloads } = await api(bus).call(
    "status",
    "list",
    ListStatusRequestSchema,
    ListStatusResponseSchema,
    {},
  );
  return workloads;
}

const stateOf = async (workload = W) =>
  (await list()).find((status) => status.workload === workload)?.state;

const ready = (gateway: RunningService) =>
  eventually("gateway is ready", () => gateway.problems().length === 0);

describe("a gateway on a real nats-server", () => {
  it("brings an agent to the head, then each advance, and tells who watches", async () => {
    const gateway = await startGateway("gw1");
    await seed(A);
    await ready(gateway);
    const events: VersionEvent[] = [];
    const stop = new AbortController();
    const watching = (async () => {
      for await (const { body: said } of watch(bus, {
        noun: "version",
        verb: "watch",
        requestSchema: WatchVersionsRequestSchema,
        request: (inbox) => ({ inbox }),
        signal: stop.signal,
      })) {
        if (said.case === "versions") events.push(...said.value.events);
      }
    })();
    const { agent, backend } = await startAgent();
    await eventually("agent has version 1", () => agent.status.version === 1n);
    await append(
      ...stored("rw", B),
      advance("rw", W, { version: 1, policy: A }, { version: 2, policy: B }),
    );
    await eventually("agent has version 2", () => agent.status.version === 2n);
    expect(backend.policy).toEqual(withVersion(B, 2n));
    expect(await eventually("synced", stateOf, (state) => state === AgentState.SYNCED)).toBe(
      AgentState.SYNCED,
    );
    await eventually("the watch told of step and ack", () => events.length >= 3);
    expect(events.map(({ ack, toVersion, changes }) => ({ ack, toVersion, changes }))).toEqual([
      { ack: "APPLIED", toVersion: 1n, changes: [] },
      {
        ack: "",
        toVersion: 2n,
        changes: ["add peers web/tcp +10.0.0.2/32", "remove peers web/tcp -10.0.0.1/32"],
      },
      { ack: "APPLIED", toVersion: 2n, changes: [] },
    ]);
    stop.abort();
    await watching;
  });

  it("goes on where it was after the server is killed and comes back", async () => {
    const gateway = await startGateway("gw1");
    await seed(A);
    const { agent } = await startAgent();
    await eventually("agent has version 1", () => agent.status.version === 1n);
    await server.kill();
    await server.restart();
    await eventually("bus is back", () => bus.connected);
    await append(
      ...stored("rw", B),
      advance("rw", W, { version: 1, policy: A }, { version: 2, policy: B }),
    );
    await eventually("agent has version 2", () => agent.status.version === 2n);
    expect(gateway.problems()).toEqual([]);
  });

  it("holds when the store is wiped, and the agent keeps its policy", async () => {
    const gateway = await startGateway("gw1");
    await seed(A);
    const { agent, backend } = await startAgent();
    await eventually("agent has version 1", () => agent.status.version === 1n);
    await server.kill();
    await server.wipe();
    await server.restart();
    await bus.whenConnected(60_000);
    await eventually(
      "gateway says held",
      () => gateway.problems(),
      (problems) => problems.some((problem) => problem.includes("CONFIG has no commit")),
    );
    await append(
      commit("rw", 1),
      registered("rw", W),
      ...stored("rw", B),
      epoch("rw", W, 2n, { inputs: { ...inputsAt(1), generation: inputsAt(1).generation - 1n } }),
    );
    await eventually("agent is listed", stateOf, (state) => state !== undefined);
    expect(agent.status.version).toBe(1n);
    expect(bodyDigest(backend.policy)).toBe(bodyDigest(A));
  });

  it("sends a snapshot of 20 MiB in chunks and has it acknowledged", async () => {
    const peers = Array.from({ length: 65_536 }, (_unused, index) => {
      const [high, low] = [(index >> 8).toString(16), (index & 255).toString(16)];
      return `2001:db8:${high}:${low}:1111:2222:3333:4444/128`;
    });
    const set = body(...peers).inboundRules[0]?.peerCidrs ?? [];
    const inboundRules = Array.from({ length: 9 }, (_unused, index) =>
      create(ResolvedRuleSchema, {
        ruleId: `rule-${index}/tcp`,
        peerCidrs: set,
        ports: [],
        protocol: Protocol.TCP,
      }),
    );
    const policy = canonical(
      create(WorkloadPolicySchema, { mode: EnforcementMode.ENFORCED, inboundRules }),
    );
    expect(toBinary(WorkloadPolicySchema, policy).length).toBeGreaterThan(20 * 1024 * 1024);
    await startGateway("gw1");
    await seed(policy);
    const { agent } = await startAgent();
    await eventually("agent has it", () => agent.status.version === 1n, Boolean, 120_000);
    await eventually("synced", stateOf, (state) => state === AgentState.SYNCED);
  }, 180_000);
});

describe("two gateways", () => {
  it("share the agents, and either answers for both", async () => {
    const first = await startGateway("gw1");
    await seed(A);
    const second = await startGateway("gw2");
    await ready(first);
    await ready(second);
    const { agent } = await startAgent();
    await eventually("agent has version 1", () => agent.status.version === 1n);
    let agreed = 0;
    await eventually(
      "whoever is asked says that the one agent has the head",
      async () => {
        const answer = await api(bus).call(
          "status",
          "convergence",
          ConvergenceRequestSchema,
          ConvergenceResponseSchema,
          { configSequence: 1n },
        );
        agreed = answer.agents === 1 && answer.acked === 1 ? agreed + 1 : 0;
        return agreed > 20;
      },
      Boolean,
    );
    expect((await list()).map(({ gateway, state }) => ({ gateway, state }))).toEqual([
      { gateway: agent.status.gateway, state: AgentState.SYNCED },
    ]);
  });

  it("hand an agent over when one stops", async () => {
    const first = await startGateway("gw1");
    await seed(A);
    const { agent } = await startAgent();
    await eventually("agent has version 1", () => agent.status.version === 1n);
    const second = await startGateway("gw2");
    await ready(second);
    await first.stop();
    gateways = gateways.filter((gateway) => gateway !== first);
    await eventually("gw2 owns the session", () => agent.status.gateway === "gw2");
    await append(
      ...stored("rw", B),
      advance("rw", W, { version: 1, policy: A }, { version: 2, policy: B }),
    );
    await eventually("agent has version 2", () => agent.status.version === 2n);
  });

  it("do not fight over two agents with one id: the newest wins, the other backs off", async () => {
    await startGateway("gw1");
    await startGateway("gw2");
    await seed(A);
    const one = await startAgent();
    await eventually("the first has version 1", () => one.agent.status.version === 1n);
    const two = await startAgent();
    await eventually("the second has version 1", () => two.agent.status.version === 1n);
    await append(batch("rw", W, { inputs: inputsAt(1) }));
    await append(
      ...stored("rw", B),
      advance("rw", W, { version: 1, policy: A }, { version: 2, policy: B }),
    );
    await eventually(
      "both have version 2 in the end",
      () => one.agent.status.version === 2n && two.agent.status.version === 2n,
      Boolean,
      60_000,
    );
  });
});
