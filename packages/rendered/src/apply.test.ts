import { create } from "@bufbuild/protobuf";
import {
  type DeltaChange,
  DeltaChangeSchema,
  type PolicyDelta,
  PolicyDeltaSchema,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, canonical, RenderedError } from "./index.ts";
import { policy } from "./policies.arbitrary.ts";

type Change = DeltaChange["change"];

const base = () =>
  create(WorkloadPolicySchema, {
    version: 1n,
    mode: 1,
    inboundRules: [{ ruleId: "r1/tcp", peerCidrs: ["10.0.0.1"], protocol: 1 }],
    outboundRoutes: [
      {
        outbound: "demo/redis",
        splits: [{ key: "service=demo/redis", weight: 100, endpoints: ["tcp/10.0.0.5:1@1"] }],
      },
    ],
  });

const peerChange = (ruleId: string, peerCidrs: string[]) =>
  ({ $typeName: "ringwall.v1.PeerChange", ruleId, peerCidrs }) as const;

const endpointChange = (outbound: string, splitKey: string, endpoints: string[]) =>
  ({ $typeName: "ringwall.v1.EndpointChange", outbound, splitKey, endpoints }) as const;

const UNSET: Change = { case: undefined };
const GHOST: Change = { case: "addPeers", value: peerChange("ghost/tcp", ["10.0.0.9"]) };

describe("apply", () => {
  it("checks the base before any change", () => {
    expect(codeOf(() => apply(base(), deltaOf([UNSET], 2n)))).toBe("base-mismatch");
    expect(codeOf(() => apply(undefined, deltaOf([], 1n)))).toBe("base-mismatch");
  });

  it("refuses peers for a rule that is not there, naming the change and the rule", () => {
    const run = () => apply(base(), deltaOf([{ case: "removeRuleId", value: "r1/tcp" }, GHOST]));
    expect(codeOf(run)).toBe("unknown-rule");
    expect(run).toThrow(/change 1 names rule "ghost\/tcp"/);
  });

  it("refuses endpoints for a route or split that is not there", () => {
    const route: Change = { case: "addEndpoints", value: endpointChange("demo/pg", "x", ["e"]) };
    const split: Change = {
      case: "removeEndpoints",
      value: endpointChange("demo/redis", "service=other", ["e"]),
    };
    expect(codeOf(() => apply(base(), deltaOf([route])))).toBe("unknown-route");
    expect(codeOf(() => apply(base(), deltaOf([split])))).toBe("unknown-route");
  });

  it("lets the first change that fails decide", () => {
    expect(codeOf(() => apply(base(), deltaOf([UNSET, GHOST])))).toBe("malformed-change");
    expect(codeOf(() => apply(base(), deltaOf([GHOST, UNSET])))).toBe("unknown-rule");
  });

  it("removes what is not there without complaint", () => {
    const changes: Change[] = [
      { case: "removeRuleId", value: "ghost/tcp" },
      { case: "removeOutbound", value: "demo/ghost" },
    ];
    expect(apply(base(), deltaOf(changes))).toEqual(canonical({ ...base(), version: 2n }));
  });

  it("compares peers after normalising them", () => {
    const change: Change = {
      case: "removePeers",
      value: peerChange("r1/tcp", ["::ffff:10.0.0.1"]),
    };
    expect(apply(base(), deltaOf([change])).inboundRules[0]?.peerCidrs).toEqual([]);
  });

  it("keeps a rule that loses every peer and a split that loses every endpoint", () => {
    const change: Change = {
      case: "removeEndpoints",
      value: endpointChange("demo/redis", "service=demo/redis", ["tcp/10.0.0.5:1@1"]),
    };
    const result = apply(base(), deltaOf([change]));
    expect(result.outboundRoutes[0]?.splits[0]?.endpoints).toEqual([]);
  });

  it("leaves a frozen base untouched, whether it succeeds or fails", () => {
    const endings: Change[] = [UNSET, GHOST, { case: "setMode", value: 3 }];
    fc.assert(
      fc.property(policy, fc.constantFrom(...endings), (message, ending) => {
        const frozen = deepFreeze(structuredClone(message));
        const changes: Change[] = [
          ...message.inboundRules.map(
            (rule): Change => ({ case: "addPeers", value: peerChange(rule.ruleId, ["10.9.9.9"]) }),
          ),
          { case: "removeOutbound", value: "demo/redis" },
          ending,
        ];
        const run = () => apply(frozen, deltaOf(changes, message.version));
        if (ending.case === "setMode") run();
        else expect(run).toThrow(RenderedError);
        expect(frozen).toEqual(message);
      }),
      { numRuns: 500 },
    );
  });

  it("shares no list with the delta", () => {
    const upserted = base().inboundRules[0];
    if (upserted === undefined) throw new Error("the base has a rule");
    const result = apply(base(), deltaOf([{ case: "upsertRule", value: upserted }]));
    upserted.peerCidrs.push("10.0.0.99");
    expect(result.inboundRules[0]?.peerCidrs).toEqual(["10.0.0.1/32"]);
  });

  it("runs many changes in any order of their ids", () => {
    const ids = Array.from({ length: 500 }, (_, i) => `r${(i * 7919) % 500}/tcp`);
    const changes = ids.map(
      (ruleId): Change => ({
        case: "upsertRule",
        value: { ...(base().inboundRules[0] ?? fail()), ruleId },
      }),
    );
    const result = apply(base(), deltaOf(changes));
    expect(result.inboundRules.map((rule) => rule.ruleId)).toEqual(ids.toSorted());
  });
});

function deltaOf(changes: Change[], fromVersion = 1n): PolicyDelta {
  return create(PolicyDeltaSchema, {
    fromVersion,
    toVersion: fromVersion === 2n ** 64n - 1n ? fromVersion : fromVersion + 1n,
    changes: changes.map((change) => ({ ...create(DeltaChangeSchema), change })),
  });
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof RenderedError ? error.code : String(error);
  }
  return "no error";
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}

function fail(): never {
  throw new Error("unreachable");
}
