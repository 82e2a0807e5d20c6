import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { PolicyDeltaSchema, type WorkloadPolicy } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, bodyDigest, canonical, delta, diff, equal, marshal } from "./index.ts";
import { policy, policyPair } from "./policies.arbitrary.ts";

const RUNS = { numRuns: 1500 };

const VARIANTS = [
  "addEndpoints",
  "addPeers",
  "removeEndpoints",
  "removeOutbound",
  "removePeers",
  "removeRuleId",
  "setMode",
  "upsertRoute",
  "upsertRule",
];

describe("the algebra of rendered policies", () => {
  it("turns any policy into any other by their delta, byte for byte, with every variant", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(policyPair, ([from, to]) => {
        const change = delta(from, to);
        for (const item of change.changes) seen.add(item.change.case ?? "unset");
        expect(marshal(apply(from, change))).toEqual(marshal(to));
      }),
      RUNS,
    );
    expect([...seen].sort()).toEqual(VARIANTS);
  });

  it("holds for a delta that went over the wire", () => {
    fc.assert(
      fc.property(policyPair, ([from, to]) => {
        const bytes = toBinary(PolicyDeltaSchema, delta(from, to));
        const result = apply(from, fromBinary(PolicyDeltaSchema, bytes));
        expect(marshal(result)).toEqual(marshal(to));
        expect(bodyDigest(result)).toBe(bodyDigest(to));
      }),
      RUNS,
    );
  });

  it("has no difference exactly between equal bodies, which have one digest", () => {
    let equals = 0;
    fc.assert(
      fc.property(policyPair, ([from, to]) => {
        const same = equal(from, to);
        if (same) equals++;
        expect(diff(from, to).length === 0).toBe(same);
        expect(equal(to, from)).toBe(same);
        expect(bodyDigest(from) === bodyDigest(to)).toBe(same);
      }),
      RUNS,
    );
    expect(equals).toBeGreaterThan(RUNS.numRuns / 10);
  });

  it("leads along a chain of deltas to the last policy", () => {
    fc.assert(
      fc.property(fc.array(policy, { minLength: 2, maxLength: 6 }), (chain) => {
        let current: WorkloadPolicy | undefined = chain[0];
        for (const next of chain.slice(1)) current = apply(current, delta(current, next));
        expect(marshal(current)).toEqual(marshal(chain.at(-1)));
      }),
      { numRuns: 200 },
    );
  });
});

describe("canonical", () => {
  it("is its own canonical form, also after a copy", () => {
    fc.assert(
      fc.property(policy, (message) => {
        const once = canonical(message);
        expect(canonical(once)).toBe(once);
        expect(canonical(structuredClone(once))).toEqual(once);
      }),
      RUNS,
    );
  });

  it("does not depend on the order of rules, peers, ports, routes, splits and endpoints", () => {
    fc.assert(
      fc.property(policy, (message) => {
        const ordered = canonical(message);
        expect(canonical(reversed(ordered))).toEqual(ordered);
      }),
      RUNS,
    );
  });

  it("neither changes its input nor shares lists with it", () => {
    fc.assert(
      fc.property(policy, (message) => {
        const before = structuredClone(message);
        const result = canonical(message);
        const marshalled = marshal(result);
        expect(message).toEqual(before);
        scribble(message);
        expect(marshal(result)).toEqual(marshalled);
        expect(marshal(structuredClone(result))).toEqual(marshalled);
      }),
      RUNS,
    );
  });
});

function reversed(message: WorkloadPolicy): WorkloadPolicy {
  const copy = structuredClone(message);
  copy.inboundRules.reverse();
  copy.outboundRoutes.reverse();
  for (const rule of copy.inboundRules) {
    rule.peerCidrs.reverse();
    rule.ports.reverse();
  }
  for (const route of copy.outboundRoutes) {
    route.splits.reverse();
    for (const split of route.splits) split.endpoints.reverse();
  }
  return copy;
}

function scribble(message: WorkloadPolicy): void {
  message.mode = 2;
  for (const rule of message.inboundRules) {
    rule.ruleId = "scribbled";
    rule.peerCidrs.push("scribbled");
    for (const port of rule.ports) port.end = 1;
    rule.ports.length = 0;
  }
  for (const route of message.outboundRoutes) {
    for (const split of route.splits) split.endpoints.push("scribbled");
    route.splits.length = 0;
  }
  message.inboundRules.length = 0;
  message.outboundRoutes.length = 0;
}
