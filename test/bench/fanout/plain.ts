import type { Bus } from "@ringwall/bus";
import { percentiles } from "../harness.ts";
import { plainSubjects } from "./protocol.ts";
import type { Spread } from "./spread.ts";

/**
 * The bare cost: one core message of so many bytes to every agent's place and one back, through the
 * same server and over the same connections.
 */
export async function plainRound(bus: Bus, agents: number, bytes: number): Promise<Spread> {
  const payload = new Uint8Array(bytes);
  const times: number[] = [];
  const all = Promise.withResolvers<void>();
  const begun = performance.now();
  const answers = bus.nc.subscribe("plain.*.up", {
    callback: () => {
      times.push(performance.now() - begun);
      if (times.length === agents) all.resolve();
    },
  });
  for (let index = 0; index < agents; index += 1) {
    bus.nc.publish(plainSubjects(index).down, payload);
  }
  await all.promise;
  answers.unsubscribe();
  return { ...percentiles(times), min: times[0] ?? 0, max: times.at(-1) ?? 0 };
}
