import type { StreamName } from "@ringwall/bus";
import { eventually } from "@ringwall/testkit";
import type { Scenario } from "../scenario.ts";

const STREAMS: readonly StreamName[] = ["CONFIG", "BLOBS", "REGISTRY", "RENDERED", "VERSIONS"];
const LOST_DEADLINE_MS = 60_000;

/** Writes are stored and their acknowledgements never arrive. */
export const lostReply: Scenario = {
  name: "lost-reply",
  fault: "acknowledgements of stored writes are lost, one of every log",
  ground: "proxied",
  async run(trial) {
    const { proxy, plane, writer } = trial.parts;
    if (proxy === undefined) throw new Error("the ground has no proxy");
    const rounds = trial.ms({ ci: 1, full: 3 });
    const sinceMs = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      const before = proxy.dropped;
      for (const stream of STREAMS) proxy.loseAcks(plane.bus.names.stream(stream), 1);
      writer.start();
      await eventually(
        "a reply of every stream is lost",
        () => proxy.dropped - before,
        (lost) => lost === STREAMS.length,
        LOST_DEADLINE_MS,
      );
      await writer.stop();
    }
    const toHeadMs = (await trial.settle(sinceMs)) / rounds;
    return { toHeadMs, note: `${proxy.dropped} replies lost, each waited 5 s for` };
  },
};
