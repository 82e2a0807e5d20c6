import { eventually } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ControlPlane } from "./control-plane.ts";
import { rules, settle, WORKLOADS } from "./estate.ts";
import { type OtlpReceiver, startOtlpReceiver } from "./otlp-receiver.ts";
import type { ReceivedSpan } from "./otlp-spans.ts";

let receiver: OtlpReceiver;
let plane: ControlPlane;
let commit = "";
let all: readonly ReceivedSpan[] = [];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  plane = await ControlPlane.start({
    workloads: WORKLOADS,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  });
  await settle(plane);
  const applied = await plane.must(["apply", "-f", "-", "--wait=60", "--json"], rules(5433));
  // The command's documented JSON form.
  commit = (JSON.parse(applied) as { commit: { id: string } }).commit.id;
  // Another role for a web host takes it out of the peers of db-1.
  await plane.must(["workload", "admit", "web-2", "--namespace", "shop", "app=shop", "role=batch"]);
  const acked = () => plane.must(["history", "db-1", "--json"]);
  await eventually("db-1 without web-2", acked, (text) => text.includes("remove peers"));
  await plane.synced(WORKLOADS.length);
  await plane.stop();
  all = receiver.spans;
}, 240_000);

afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
}, 60_000);

/** The span of the measured commit's trace with a name, and with attributes if given. */
function hop(name: string, attributes: Readonly<Record<string, unknown>> = {}): ReceivedSpan {
  const origin = all.find(
    (span) => span.name === "commit" && span.attributes["ringwall.commit"] === commit,
  );
  const found = all.filter(
    (span) =>
      span.name === name &&
      span.traceId === origin?.traceId &&
      Object.entries(attributes).every(([key, value]) => span.attributes[key] === value),
  );
  const [span] = found;
  if (span === undefined || found.length !== 1) {
    const names = all.filter(({ traceId }) => traceId === origin?.traceId).map((each) => each.name);
    throw new Error(`${found.length} spans "${name}"; the trace has ${names.join(", ")}`);
  }
  return span;
}

/** The path of the change of db-1, from the command to the kernel. */
function path(): Record<string, ReceivedSpan> {
  const push = hop("push", { "ringwall.workload": "db-1" });
  const partition = push.attributes["ringwall.partition"];
  return {
    command: hop("ringwall apply"),
    commit: hop("commit"),
    render: hop("render"),
    emit: hop("emit", { "ringwall.partition": partition }),
    version: hop("version", { "ringwall.partition": partition }),
    deliver: hop("deliver", { "ringwall.partition": partition }),
    push,
    apply: hop("agent.apply", { "ringwall.workload": "db-1" }),
  };
}

describe("the trace of one apply", () => {
  it("has every hop from the command to the agent, each below the one before", () => {
    const hops = Object.values(path());
    expect(hops.map(({ parentId }) => parentId)).toEqual([
      "",
      ...hops.slice(0, -1).map(({ spanId }) => spanId),
    ]);
    expect(new Set(hops.map(({ traceId }) => traceId)).size).toBe(1);
    expect(hops.filter(({ failed }) => failed)).toEqual([]);
  });

  it("names the service of each hop", () => {
    expect(
      Object.fromEntries(Object.entries(path()).map(([at, span]) => [at, span.service])),
    ).toEqual({
      command: "ringwall-cli",
      commit: "ringwall-version-keeper",
      render: "ringwall-renderer",
      emit: "ringwall-renderer",
      version: "ringwall-version-keeper",
      deliver: "ringwall-agent-gateway",
      push: "ringwall-agent-gateway",
      apply: "ringwall-agent",
    });
  });

  it("says what was done: commit, partition, workload, version", () => {
    const { commit: stored, render, emit, version, push, apply } = path();
    for (const span of [stored, render, emit, version, push]) {
      expect(span?.attributes["ringwall.commit"]).toBe(commit);
    }
    expect(stored?.attributes["ringwall.config_sequence"]).toBe(2);
    expect(render?.attributes["ringwall.workloads"]).toBe(1);
    expect(emit?.attributes["ringwall.bodies"]).toBe(1);
    expect(version?.attributes["ringwall.advances"]).toBe(1);
    expect(push?.attributes["ringwall.kind"]).toBe("delta");
    expect(apply?.attributes["ringwall.status"]).toBe("applied");
    expect(apply?.attributes["ringwall.version"]).toBe(push?.attributes["ringwall.version"]);
  });

  // The next hop begins when a record is stored, while the one before still waits for the word that
  // it is: that time is counted once.
  it("explains the convergence time within a tenth by the sum of its hops", () => {
    const { commit: stored, render, emit, version, push } = path();
    const hops = [stored, render, emit, version, push].filter((span) => span !== undefined);
    const began = stored?.startUnixMs ?? 0;
    const whole = (push?.endUnixMs ?? 0) - began;
    let reached = began;
    let sum = 0;
    const shares = hops.map(({ name, startUnixMs, endUnixMs }) => {
      const share = Math.max(0, endUnixMs - Math.max(reached, startUnixMs));
      reached = Math.max(reached, endUnixMs);
      sum += share;
      return `${name} ${share.toFixed(0)} ms`;
    });
    process.stderr.write(`${shares.join(", ")}: ${sum.toFixed(0)} of ${whole.toFixed(0)} ms\n`);
    expect(Math.abs(sum - whole)).toBeLessThanOrEqual(whole * 0.1);
  });

  it("emits the new inputs in every partition", () => {
    const { traceId } = hop("commit");
    const emitted = all.filter((span) => span.traceId === traceId && span.name === "emit");
    expect(new Set(emitted.map((span) => span.attributes["ringwall.partition"])).size).toBe(64);
  });

  it("goes as far for a registration", () => {
    const root = all.findLast(({ name }) => name === "ringwall workload admit");
    const own = all.filter(({ traceId }) => traceId === root?.traceId);
    const push = own.find(({ name }) => name === "push");
    const partition = push?.attributes["ringwall.partition"];
    const names = ["agent.apply", "push", "deliver", "version", "emit", "render", "register"];
    const path = names.map((name) =>
      own.find(
        (span) =>
          span.name === name &&
          (span.attributes["ringwall.partition"] ?? partition) ===
            (name === "register" ? span.attributes["ringwall.partition"] : partition),
      ),
    );
    expect(path.map((span) => span?.parentId)).toEqual(
      [...path.slice(1), root].map((span) => span?.spanId),
    );
    expect(path.at(-1)?.attributes["ringwall.workload"]).toBe("web-2");
    expect(path[0]?.attributes["ringwall.workload"]).toBe("db-1");
  });

  it("exports metrics too", () => {
    expect(receiver.metricExports).toBeGreaterThan(0);
  });
});
