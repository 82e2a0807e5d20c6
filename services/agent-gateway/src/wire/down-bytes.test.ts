import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Down,
  DownSchema,
  EnforcementMode,
  InputsSchema,
  type PolicyDelta,
  PolicyDeltaSchema,
  Protocol,
  ResolvedRuleSchema,
  SnapshotChunkSchema,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chunkBytes,
  type DownFrame,
  deltaVersions,
  encodeDown,
  policyVersion,
  pulseBytes,
} from "./down-bytes.ts";
import { fromHex } from "./hex.ts";

const number = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.constantFrom(0, 1, 127, 128, 2 ** 32 - 1, 2 ** 32, 2 ** 52),
);
const bytes = fc.uint8Array({ maxLength: 300 });
const frames = fc.record({
  workload: fc.stringMatching(/^[a-z0-9_-]{1,64}$/),
  session: number,
  seq: number,
  epoch: number.map(BigInt),
  headVersion: number,
  digest: fc.option(
    fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((value) => Buffer.from(value).toString("hex")),
    { nil: "" },
  ),
  inputs: fc.option(number, { nil: undefined }),
});

type Frame = typeof frames extends fc.Arbitrary<infer Value> ? Value : never;

function spliced({ inputs, ...frame }: Frame): DownFrame {
  const value = create(InputsSchema, { generation: BigInt(inputs ?? 0) });
  return {
    ...frame,
    inputs: inputs === undefined ? new Uint8Array() : toBinary(InputsSchema, value),
  };
}

function plain({ inputs, ...frame }: Frame, body: Down["body"]): Down {
  const down = create(DownSchema, {
    workloadId: frame.workload,
    session: BigInt(frame.session),
    seq: BigInt(frame.seq),
    epoch: frame.epoch,
    headVersion: BigInt(frame.headVersion),
    digest: fromHex(frame.digest),
    body,
  });
  if (inputs !== undefined && inputs !== 0) {
    down.inputs = create(InputsSchema, { generation: BigInt(inputs) });
  }
  return down;
}

const rule = create(ResolvedRuleSchema, { ruleId: "a/tcp", protocol: Protocol.TCP });

describe("encodeDown", () => {
  it("gives what the protobuf runtime reads as the same delta", () => {
    fc.assert(
      fc.property(
        frames,
        number,
        number,
        fc.array(fc.string(), { maxLength: 4 }),
        (frame, from, to, ids) => {
          const changes = ids.map((id) => ({
            change: { case: "removeRuleId" as const, value: id },
          }));
          const shared = toBinary(PolicyDeltaSchema, create(PolicyDeltaSchema, { changes }));
          const value: PolicyDelta = create(PolicyDeltaSchema, {
            fromVersion: BigInt(from),
            toVersion: BigInt(to),
            changes,
          });
          const payload = encodeDown(spliced(frame), "delta", deltaVersions(from, to), shared);
          const wanted = toBinary(DownSchema, plain(frame, { case: "delta", value }));
          expect(Buffer.from(payload).equals(wanted)).toBe(true);
        },
      ),
    );
  });

  it("gives what the protobuf runtime reads as the same snapshot", () => {
    fc.assert(
      fc.property(frames, number, (frame, version) => {
        const body = { mode: EnforcementMode.ENFORCED, inboundRules: [rule] };
        const shared = toBinary(WorkloadPolicySchema, create(WorkloadPolicySchema, body));
        const payload = encodeDown(spliced(frame), "snapshot", policyVersion(version), shared);
        const value = create(WorkloadPolicySchema, { ...body, version: BigInt(version) });
        const wanted = toBinary(DownSchema, plain(frame, { case: "snapshot", value }));
        expect(Buffer.from(payload).equals(wanted)).toBe(true);
      }),
    );
  });

  it("gives what the protobuf runtime reads as the same chunk", () => {
    fc.assert(
      fc.property(frames, number, fc.nat(1023), bytes, (frame, id, index, data) => {
        const sha256 = new Uint8Array(32).fill(7);
        const fields = chunkBytes(id, index, index + 1, sha256, data.length);
        const payload = encodeDown(spliced(frame), "chunk", fields, data);
        const { body } = fromBinary(DownSchema, new Uint8Array(payload));
        expect(body.case === "chunk" && body.value).toEqual(
          create(SnapshotChunkSchema, { id: BigInt(id), index, count: index + 1, sha256, data }),
        );
      }),
    );
  });

  it("gives a pulse with the last sequence", () => {
    const frame = { workload: "a", session: 1, seq: 2, epoch: 3n, headVersion: 4, digest: "" };
    const payload = encodeDown({ ...frame, inputs: new Uint8Array() }, "pulse", pulseBytes(300));
    expect(fromBinary(DownSchema, payload).body.value).toMatchObject({ lastSeq: 300n });
  });
});
