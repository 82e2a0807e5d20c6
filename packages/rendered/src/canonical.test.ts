import { create, toBinary } from "@bufbuild/protobuf";
import { EnforcementMode, WorkloadPolicySchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { canonical, canonicalRoute, canonicalRule, diff, empty, equal, peerSet } from "./index.ts";

describe("canonical", () => {
  it("makes an absent policy the empty one", () => {
    expect(canonical(undefined)).toBe(empty());
    expect(empty()).toEqual(
      create(WorkloadPolicySchema, { version: 0n, mode: EnforcementMode.VISIBILITY }),
    );
  });

  it("lets a later duplicate replace the earlier rule or route whole", () => {
    const result = canonical(
      create(WorkloadPolicySchema, {
        inboundRules: [
          { ruleId: "a", peerCidrs: ["10.0.0.1"], ports: [{ start: 1, end: 1 }] },
          { ruleId: "a", protocol: 2 },
        ],
        outboundRoutes: [
          { outbound: "demo/a", route: "demo/x", splits: [{ key: "k", weight: 1 }] },
          { outbound: "demo/a" },
        ],
      }),
    );
    expect(result.inboundRules).toEqual([canonicalRule({ ...rule("a"), protocol: 2 })]);
    expect(result.outboundRoutes[0]).toMatchObject({ route: "", splits: [] });
  });

  it("adds up the weights of equal split keys and joins their endpoints", () => {
    const [route] = create(WorkloadPolicySchema, {
      outboundRoutes: [
        {
          splits: [
            { key: "k", weight: 10, endpoints: ["b"] },
            { key: "j", weight: 0xffff_ffff },
            { key: "k", weight: 5, endpoints: ["a", "b"] },
            { key: "j", weight: 1 },
          ],
        },
      ],
    }).outboundRoutes;
    expect(route && canonicalRoute(route).splits).toMatchObject([
      { key: "j", weight: 0xffff_ffff, endpoints: [] },
      { key: "k", weight: 15, endpoints: ["a", "b"] },
    ]);
  });

  it("orders ids by their UTF-8 bytes", () => {
    const ids = ["😀/tcp", "～/tcp", "é/tcp", "a/tcp", "B/tcp"];
    const result = canonical(
      create(WorkloadPolicySchema, { inboundRules: ids.map((ruleId) => ({ ruleId })) }),
    );
    expect(result.inboundRules.map((item) => item.ruleId)).toEqual([
      "B/tcp",
      "a/tcp",
      "é/tcp",
      "～/tcp",
      "😀/tcp",
    ]);
  });

  it("takes canonical parts over as they are", () => {
    const peers = peerSet(["10.0.0.1"]);
    const part = canonicalRule({ ...rule("a"), peerCidrs: peers });
    const result = canonical({ ...create(WorkloadPolicySchema), inboundRules: [part] });
    expect(result.inboundRules[0]).toBe(part);
    expect(part.peerCidrs).toBe(peers);
  });

  it("drops unknown fields, which are no part of a body", () => {
    const plain = create(WorkloadPolicySchema, { mode: 3 });
    const unknown = { ...plain, $unknown: [{ no: 99, wireType: 0, data: Uint8Array.of(1) }] };
    expect(toBinary(WorkloadPolicySchema, canonical(unknown))).toEqual(Uint8Array.of(0x10, 3));
  });

  it("freezes messages, so that a slip is found where it happens", () => {
    const result = canonical(create(WorkloadPolicySchema, { version: 1n }));
    expect(() => {
      result.version = 2n;
    }).toThrow(TypeError);
  });
});

describe("diff", () => {
  it("does not look into what is the same object", () => {
    const trap = new Proxy(canonical(create(WorkloadPolicySchema)), {
      get: () => {
        throw new Error("looked");
      },
    });
    expect(diff(trap, trap)).toEqual([]);
    expect(equal(trap, trap)).toBe(true);
  });

  it("adds and removes endpoints per split when only they differ", () => {
    const route = (endpoints: string[], weight = 90) =>
      create(WorkloadPolicySchema, {
        mode: 1,
        outboundRoutes: [
          {
            outbound: "demo/a",
            splits: [
              { key: "j", weight: 10 },
              { key: "k", weight, endpoints },
            ],
          },
        ],
      });
    const value = { outbound: "demo/a", splitKey: "k" };
    expect(diff(route(["a", "b"]), route(["b", "c"]))).toMatchObject([
      { change: { case: "addEndpoints", value: { ...value, endpoints: ["c"] } } },
      { change: { case: "removeEndpoints", value: { ...value, endpoints: ["a"] } } },
    ]);
    expect(diff(route(["a"]), route(["b"], 80))).toMatchObject([
      { change: { case: "upsertRoute", value: { outbound: "demo/a" } } },
    ]);
  });
});

function rule(ruleId: string) {
  const [made] = create(WorkloadPolicySchema, { inboundRules: [{ ruleId }] }).inboundRules;
  if (made === undefined) throw new Error("one rule was made");
  return made;
}
