import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  AgentState,
  SessionTakenSchema,
  StatusPageSchema,
  UpSchema,
  type WorkloadStatusSchema,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import type { Bench } from "../testing/bench.ts";
import { withHead } from "../testing/scenes.ts";
import { GatewayWatch } from "./gateway-watch.ts";

const SECONDS = 6;

/** A gateway's sign of life, as the bus delivers it to every gateway. */
function sign(bench: Bench, gateway: string): void {
  taken(bench, { gateway });
}

function taken(bench: Bench, said: MessageInitShape<typeof SessionTakenSchema>): void {
  bench.step({
    kind: "delivery",
    listener: "taken",
    subject: bench.names.gatewaySession,
    payload: toBinary(SessionTakenSchema, create(SessionTakenSchema, said)),
    headers: {},
  });
}

/** A page of STATUS that another gateway wrote. */
function page(
  bench: Bench,
  gateway: string,
  workload: MessageInitShape<typeof WorkloadStatusSchema>,
) {
  const value = create(StatusPageSchema, {
    gateway,
    seenUnixMs: BigInt(bench.wallMs),
    workloads: [workload],
  });
  bench.step({
    kind: "record",
    reader: "status",
    record: {
      subject: bench.names.status(gateway, 0),
      sequence: 1,
      payload: toBinary(StatusPageSchema, value),
      headers: {},
      timeUnixMs: bench.wallMs,
    },
  });
}

const listed = { workload: "web-1", session: 77n, state: AgentState.SYNCED };

describe("a gateway that is gone", () => {
  it("is noticed once, when six own signs of life came back without one of it", () => {
    const watch = new GatewayWatch("gw1");
    watch.heard("gw2", 0);
    for (let second = 1; second < SECONDS; second += 1) expect(watch.heard("gw1", 0)).toEqual([]);
    expect(watch.heard("gw1", 0)).toEqual(["gw2"]);
    expect(watch.heard("gw1", 0)).toEqual([]);
  });

  it("is not taken for gone while it is heard, however late both are", () => {
    const watch = new GatewayWatch("gw1");
    for (let second = 0; second < 3 * SECONDS; second += 1) {
      watch.heard("gw2", 0);
      expect(watch.heard("gw1", 0)).toEqual([]);
    }
  });

  it("leaves its agents to the others: each is told to say Hello again", () => {
    const bench = withHead();
    page(bench, "gw2", listed);
    sign(bench, "gw2");
    for (let second = 0; second < SECONDS; second += 1) {
      expect(bench.downs()).toEqual([]);
      sign(bench, "gw1");
    }
    expect(bench.downs()).toMatchObject([{ session: 77n, body: { case: "directive" } }]);
  });

  it("has no say over an agent that this gateway has a session of", () => {
    const bench = withHead();
    page(bench, "gw2", listed);
    sign(bench, "gw2");
    bench.hello();
    const before = bench.downs().length;
    for (let second = 0; second < SECONDS; second += 1) sign(bench, "gw1");
    expect(bench.downs()).toHaveLength(before);
  });

  it("is noticed by one that starts later, by the agents that it listed", () => {
    const bench = withHead();
    page(bench, "gw2", listed);
    for (let second = 0; second < SECONDS; second += 1) sign(bench, "gw1");
    expect(bench.downs()).toMatchObject([{ session: 77n, body: { case: "directive" } }]);
  });

  it("is found by signs of life that every gateway gives each second", () => {
    const bench = withHead();
    bench.effects = [];
    bench.wait(3000);
    const signs = bench
      .all("publish")
      .filter(({ subject }) => subject === bench.names.gatewaySession)
      .map(({ payload }) => fromBinary(SessionTakenSchema, payload));
    expect(signs.map(({ workload, gateway }) => [workload, gateway])).toEqual(
      Array.from({ length: 3 }, () => ["", "gw1"]),
    );
  });
});

describe("a Hello that was perhaps handed to a gateway that is gone", () => {
  /** gw1 has noticed that gw2 is gone. */
  function alone(): Bench {
    const bench = withHead();
    sign(bench, "gw2");
    for (let second = 0; second < SECONDS; second += 1) sign(bench, "gw1");
    bench.wait(1000);
    return bench;
  }

  const overhear = (bench: Bench) => {
    const hello = create(UpSchema, {
      body: { case: "hello", value: { nonce: 9n, schemaLevel: 1 } },
    });
    bench.step({
      kind: "delivery",
      listener: "orphans",
      subject: bench.names.agentHello("web-1"),
      payload: toBinary(UpSchema, hello),
      headers: {},
    });
  };

  it("is taken when nobody took it for a moment", () => {
    const bench = alone();
    expect(bench.all("listen").some(({ listener }) => listener === "orphans")).toBe(true);
    overhear(bench);
    expect(bench.downs()).toEqual([]);
    bench.wait(1000);
    expect(bench.last("web-1", "helloAck").body.value).toMatchObject({ nonce: 9n });
  });

  it("is left to whoever took it", () => {
    const bench = alone();
    overhear(bench);
    taken(bench, { workload: "web-1", session: 5n, gateway: "gw3" });
    bench.wait(2000);
    expect(bench.downs()).toEqual([]);
  });

  it("is left to whoever took it, even if that is heard before the Hello", () => {
    const bench = alone();
    taken(bench, { workload: "web-1", session: 5n, gateway: "gw3" });
    overhear(bench);
    bench.wait(1500);
    expect(bench.downs()).toEqual([]);
  });

  it("is listened for until the other is heard again", () => {
    const bench = alone();
    sign(bench, "gw2");
    bench.wait(1000);
    expect(bench.all("unlisten").map(({ listener }) => listener)).toEqual(["orphans"]);
  });

  it("is the first one's business alone", () => {
    const watch = new GatewayWatch("gw5");
    watch.heard("gw2", 0);
    watch.heard("gw9", 0);
    for (let second = 0; second < SECONDS; second += 1) {
      watch.heard("gw2", 0);
      watch.heard("gw5", 0);
    }
    expect(watch.cares(0)).toBe(false);
    for (let second = 0; second < SECONDS; second += 1) watch.heard("gw5", 0);
    expect(watch.cares(0)).toBe(true);
    expect(watch.cares(7 * 60_000)).toBe(false);
  });
});
