import { connectBus } from "@ringwall/bus";
import { startNats } from "@ringwall/testkit";
import { describe, expect, it } from "vitest";
import { ControlPlane } from "../bench/pipeline/control-plane.ts";
import { watchVersions } from "../bench/pipeline/version-watch.ts";

describe("renderer killed while it rebuilds", { timeout: 180_000 }, () => {
  it("advances no version: the next commit moves inputs and nothing else", async () => {
    const nats = await startNats();
    const bus = await connectBus({ url: nats.url, name: "rebuild" });
    const plane = new ControlPlane(bus, nats.url, { workloads: 2_000, classes: 20 });
    try {
      await plane.start();
      const versions = watchVersions(bus);
      expect(await versions.reached(await plane.commit(80))).toBe(2_000);
      for (const afterMs of [300, 600, 900]) {
        await plane.killRenderer();
        plane.startRenderer();
        await new Promise((resolve) => setTimeout(resolve, afterMs));
      }
      await plane.killRenderer();
      plane.startRenderer();
      // A file that no body comes from: every partition's inputs move, no version does.
      expect(await versions.reached(await plane.commitService("unused"))).toBe(0);
    } finally {
      await plane.stop();
      await bus.close();
      await nats.stop();
    }
  });
});
