import { watch } from "@ringwall/bus";
import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { type WatchFrame, WatchWorkloadsRequestSchema, WorkloadSource } from "@ringwall/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshPrefix, registrarClient, startRegistrar } from "../testing/registrar-client.ts";
import { WatchedWorkloads } from "../testing/watched-workloads.ts";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

describe("watching workloads on a real server", () => {
  it("gives a snapshot, its end, then changes; leaving the filter is a removal", async () => {
    const service = await startRegistrar(nats, freshPrefix());
    const { report, deregister } = registrarClient(service);
    const web = (id: string, app = "web") =>
      report({ id, source: WorkloadSource.OPERATOR, labels: { app }, namespace: "shop" });
    await Promise.all([web("web-1"), web("web-2"), web("db-1", "db")]);
    const abort = new AbortController();
    const frames: WatchFrame[] = [];
    const seen = new WatchedWorkloads();
    const reading = (async () => {
      const options = {
        noun: "workload",
        verb: "watch",
        requestSchema: WatchWorkloadsRequestSchema,
        request: (inbox: string, resumeRevision: bigint) => ({
          inbox,
          resumeRevision,
          filter: { selector: "app=web" },
        }),
        signal: abort.signal,
      };
      for await (const frame of watch(service.bus, options)) {
        frames.push(frame);
        seen.take(frame);
      }
    })();
    await eventually("the snapshot", () => seen.complete);
    expect(seen.ids()).toEqual(["web-1", "web-2"]);
    await web("web-3");
    await web("web-1", "api");
    await deregister("web-2");
    await web("db-1", "web");
    await eventually("the changes", () => seen.ids().join() === "db-1,web-3");
    const removes = frames.flatMap((frame) =>
      frame.body.case === "workloads" ? frame.body.value.removes : [],
    );
    expect(removes.sort()).toEqual(["web-1", "web-2"]);
    abort.abort();
    await reading;
    await service.stop();
  });
});
