import { create, toBinary } from "@bufbuild/protobuf";
import { PartitionOwnerSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { RegistryClaims } from "./registry-claims.ts";

/** The OWNER key of a partition: stored at a place, and earlier ones that it remembers. */
function owner(partition: number, place: [number, number], ...claims: [number, number][]) {
  const value = create(PartitionOwnerSchema, {
    claims: claims.map(([revision, timeUnixMs]) => ({
      revision: BigInt(revision),
      timeUnixMs: BigInt(timeUnixMs),
    })),
  });
  return {
    subject: `$KV.rw-REGISTRY.w.${partition}.OWNER`,
    sequence: place[0],
    timeUnixMs: place[1],
    payload: toBinary(PartitionOwnerSchema, value),
    headers: {},
  };
}

function named(registryRevision: number, registryTimeUnixMs: number) {
  return {
    registryRevision: BigInt(registryRevision),
    registryTimeUnixMs: BigInt(registryTimeUnixMs),
  };
}

describe("places in REGISTRY", () => {
  const claims = new RegistryClaims();
  claims.take(owner(0, [40, 90_000.7], [5, 1000], [24, 60_000]));
  claims.take(owner(1, [7, 2000]));

  it.each([
    ["between two take-overs", 10, 30_000],
    ["at a take-over", 24, 60_000],
    ["before all of them", 2, 500],
    ["behind all of them", 50, 95_000],
    ["stored a little before what is in front of it, by another clock", 25, 59_900],
    ["of which no time is known", 30, 0],
  ])("may be %s", (_what, revision, time) => {
    expect(claims.contradict(named(revision, time))).toBe(false);
  });

  it.each([
    ["stored before what is in front of it: the log went back and grew again", 38, 7000],
    ["at a take-over of another time", 24, 7000],
    ["stored after what is behind it", 23, 70_000],
    ["stored after what is behind all that is known", 3, 5000],
  ])("can't be %s", (_what, revision, time) => {
    expect(claims.contradict(named(revision, time))).toBe(true);
  });

  it("are forgotten with the stream, and one that can't be read remembers nothing", () => {
    const few = new RegistryClaims();
    few.take(owner(0, [40, 90_000], [24, 60_000]));
    few.take({ ...owner(0, [40, 90_000]), payload: Uint8Array.of(0xff) });
    expect(few.contradict(named(38, 7000))).toBe(false);
    expect(few.contradict(named(41, 7000))).toBe(true);
    few.clear();
    expect(few.contradict(named(41, 7000))).toBe(false);
  });
});
