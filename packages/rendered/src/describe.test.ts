import { create, type UnknownEnum } from "@bufbuild/protobuf";
import { type DeltaChange, OutboundRouteSchema, ResolvedRuleSchema } from "@ringwall/wire";
import { expect, it, describe as suite } from "vitest";
import { describe, provenance, RenderedError, ruleId } from "./index.ts";

type Change = DeltaChange["change"];

/** A number that this schema gives no name; the library's type for it is a brand. */
const LATER = 99 as UnknownEnum;

const peers = (ruleId: string, peerCidrs: string[]) =>
  ({ $typeName: "ringwall.v1.PeerChange", ruleId, peerCidrs }) as const;

const endpoints = {
  $typeName: "ringwall.v1.EndpointChange",
  outbound: "demo/redis",
  splitKey: "service=demo/redis",
  endpoints: ["tcp/10.0.0.1:1@1", "tcp/10.0.0.2:1@1"],
} as const;

const rule = create(ResolvedRuleSchema, {
  ruleId: "a/tcp",
  peerCidrs: ["10.0.0.1/32"],
  protocol: 1,
  ports: [
    { start: 80, end: 80 },
    { start: 8000, end: 8010 },
  ],
});

const route = create(OutboundRouteSchema, {
  outbound: "demo/redis",
  route: "demo/canary",
  splits: [
    { key: "a", weight: 90, endpoints: ["x", "y"] },
    { key: "b", weight: 10, endpoints: ["z"] },
  ],
});

suite("describe", () => {
  it.each<[string, Change]>([
    ["set mode ENFORCEMENT_MODE_ENFORCED", { case: "setMode", value: 3 }],
    ["set mode 99", { case: "setMode", value: LATER }],
    ["upsert rule a/tcp tcp ports=80,8000-8010 peers=1", { case: "upsertRule", value: rule }],
    [
      "upsert rule r 99 ports=any peers=0",
      {
        case: "upsertRule",
        value: create(ResolvedRuleSchema, { ruleId: "r", protocol: LATER }),
      },
    ],
    ["remove rule a/tcp", { case: "removeRuleId", value: "a/tcp" }],
    ["add peers a/tcp +x,y", { case: "addPeers", value: peers("a/tcp", ["x", "y"]) }],
    ["remove peers a/tcp -x", { case: "removePeers", value: peers("a/tcp", ["x"]) }],
    [
      "upsert route demo/redis via=demo/canary weights=90,10 endpoints=3",
      { case: "upsertRoute", value: route },
    ],
    [
      "upsert route demo/pg via=(implicit) weights= endpoints=0",
      { case: "upsertRoute", value: create(OutboundRouteSchema, { outbound: "demo/pg" }) },
    ],
    ["remove route demo/redis", { case: "removeOutbound", value: "demo/redis" }],
    [
      "add endpoints demo/redis service=demo/redis +tcp/10.0.0.1:1@1,tcp/10.0.0.2:1@1",
      { case: "addEndpoints", value: { ...endpoints, endpoints: [...endpoints.endpoints] } },
    ],
    [
      "remove endpoints demo/redis service=demo/redis -tcp/10.0.0.1:1@1",
      { case: "removeEndpoints", value: { ...endpoints, endpoints: ["tcp/10.0.0.1:1@1"] } },
    ],
    ["malformed change", { case: undefined }],
  ])("says %s", (line, change) => {
    expect(describe({ $typeName: "ringwall.v1.DeltaChange", change })).toBe(line);
  });
});

suite("ruleId and provenance", () => {
  it("are each other's inverse for protocols with a name", () => {
    for (const protocol of [1, 2, 3] as const) {
      expect(provenance(ruleId("x-1", protocol))).toEqual({ authoredId: "x-1", protocol });
    }
  });

  it("splits at the first slash and reads the protocol in any case", () => {
    expect(provenance("x/UdP")).toEqual({ authoredId: "x", protocol: 2 });
    expect(() => provenance("x/y/tcp")).toThrow(RenderedError);
  });

  it.each(["", "x", "x/", "/tcp", "x/unspecified", "x/99"])("refuses %j", (id) => {
    expect(() => provenance(id)).toThrow(RenderedError);
  });
});
