import { create, toBinary } from "@bufbuild/protobuf";
import { WorkloadPolicySchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonical, marshal, RenderedError, unmarshal } from "./index.ts";
import { policy } from "./policies.arbitrary.ts";

describe("marshal", () => {
  it("writes what the protobuf library writes for the canonical form", () => {
    fc.assert(
      fc.property(policy, (message) => {
        expect(marshal(message)).toEqual(toBinary(WorkloadPolicySchema, canonical(message)));
      }),
      { numRuns: 2000 },
    );
  });

  it("writes texts and messages of every length class", () => {
    for (const length of [0, 1, 127, 128, 129, 16_383, 16_384, 70_000]) {
      for (const unit of ["x", "é", "～"]) {
        const message = create(WorkloadPolicySchema, {
          inboundRules: [{ ruleId: unit.repeat(length), peerCidrs: [unit.repeat(length)] }],
        });
        expect(marshal(message)).toEqual(toBinary(WorkloadPolicySchema, canonical(message)));
      }
    }
  });

  it("grows beyond its first buffer", () => {
    const peerCidrs = Array.from({ length: 60_000 }, (_, i) => `10.1.${i >> 8}.${i & 255}/32`);
    const message = create(WorkloadPolicySchema, { inboundRules: [{ ruleId: "a", peerCidrs }] });
    expect(marshal(message)).toEqual(toBinary(WorkloadPolicySchema, canonical(message)));
  });

  it("refuses numbers outside their wire type", () => {
    const port = create(WorkloadPolicySchema, {
      inboundRules: [{ ports: [{ start: 1, end: -1 }] }],
    });
    expect(() => marshal(port)).toThrow(RenderedError);
    expect(() => marshal(create(WorkloadPolicySchema, { version: 2n ** 64n }))).toThrow(
      /out of range: 0 to 2\^64 - 1/,
    );
  });

  it("begins anew after an error", () => {
    expect(() => marshal(create(WorkloadPolicySchema, { version: -1n }))).toThrow(RenderedError);
    expect(marshal(undefined)).toEqual(Uint8Array.of(0x10, 1));
  });
});

describe("unmarshal", () => {
  it("gives back the canonical form of what was marshalled", () => {
    fc.assert(
      fc.property(policy, (message) => {
        const read = unmarshal(marshal(message));
        expect(canonical(read)).toBe(read);
        expect(read).toEqual(canonical(message));
      }),
      { numRuns: 1000 },
    );
  });

  it("makes a policy canonical that was not", () => {
    const message = create(WorkloadPolicySchema, {
      inboundRules: [{ ruleId: "b" }, { ruleId: "a", peerCidrs: ["10.0.0.2", "10.0.0.1"] }],
    });
    expect(unmarshal(toBinary(WorkloadPolicySchema, message))).toEqual(canonical(message));
  });

  it("refuses bytes that are no policy", () => {
    expect(() => unmarshal(Uint8Array.of(0x1a, 0xff))).toThrow(RenderedError);
  });
});
