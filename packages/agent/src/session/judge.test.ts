import { create } from "@bufbuild/protobuf";
import { bodyDigest, canonical } from "@ringwall/rendered";
import { DownSchema, EnforcementMode, InputsSchema, WorkloadPolicySchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { digestBytes } from "../digest.ts";
import { judge } from "./judge.ts";

const inputs = (generation: number, config: number, registry: number) =>
  create(InputsSchema, {
    generation: BigInt(generation),
    configSequence: BigInt(config),
    registryRevision: BigInt(registry),
  });

/** A push of version 1 of a later epoch to an agent that has inputs 5/18/64. */
function verdictOf(pushed: ReturnType<typeof inputs> | undefined) {
  const policy = canonical(
    create(WorkloadPolicySchema, { version: 1n, mode: EnforcementMode.ENFORCED }),
  );
  const digest = bodyDigest(policy);
  const have = { workload: "web-1", epoch: 1n, digest, inputs: inputs(5, 18, 64), policy };
  const down = create(DownSchema, {
    workloadId: "web-1",
    epoch: 2n,
    headVersion: 1n,
    digest: digestBytes(digest),
    ...(pushed === undefined ? {} : { inputs: pushed }),
  });
  return judge(have, down, { kind: "snapshot", policy }).kind;
}

describe("a push of a later epoch", () => {
  it("is taken from the same or later inputs, and from a later generation whatever they are", () => {
    expect(verdictOf(inputs(5, 18, 64))).toBe("take");
    expect(verdictOf(inputs(5, 19, 65))).toBe("take");
    expect(verdictOf(inputs(6, 1, 1))).toBe("take");
  });

  it("is not taken from older inputs, which a gateway may send before it knows better", () => {
    expect(verdictOf(inputs(5, 13, 64))).toBe("out-of-step");
    expect(verdictOf(inputs(5, 19, 63))).toBe("out-of-step");
    expect(verdictOf(inputs(4, 99, 99))).toBe("out-of-step");
    expect(verdictOf(undefined)).toBe("out-of-step");
  });
});
