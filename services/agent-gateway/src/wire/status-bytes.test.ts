import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AgentState, EnforcementMode, StatusPageSchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Session } from "../session/session.ts";
import { statusOf } from "../status/pages.ts";
import { inputsAt } from "../testing/records.ts";
import { StatusBytes } from "./status-bytes.ts";

const GATEWAY = "gw1";
const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const count = fc.nat({ max: 2 ** 31 - 1 });

const session = fc
  .record({
    workload: fc.stringMatching(/^[a-z0-9_-]{1,64}$/),
    session: count,
    agentVersion: fc.string({ maxLength: 64 }),
    facts: fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.string({ maxLength: 20 })),
    has: fc.record({
      epoch: fc.bigInt(0n, 2n ** 50n),
      version: count,
      digest: fc.oneof(hex, fc.constant("")),
    }),
    inputs: fc.option(fc.constantFrom(inputsAt(1), inputsAt(300)), { nil: undefined }),
    parked: fc.array(hex, { maxLength: 4 }),
    detail: fc.string({ maxLength: 400 }),
    driftCount: fc.bigInt(0n, 2n ** 40n),
    nowUnixMs: fc.double({ min: 0, max: 2 ** 45, noNaN: true }),
    ackedUnixMs: count,
    state: fc.constantFrom(AgentState.SYNCED, AgentState.DEGRADED, AgentState.PENDING),
  })
  .map(({ detail, driftCount, state, ackedUnixMs, ...start }) => {
    const made = new Session({ ...start, partition: 0, nonce: 1n, schemaLevel: 1, nowMs: 0 });
    return Object.assign(made, { detail, driftCount, state, ackedUnixMs });
  });

const head = fc.record({
  epoch: fc.bigInt(0n, 2n ** 50n),
  version: count,
  mode: fc.constantFrom(EnforcementMode.UNSPECIFIED, EnforcementMode.ENFORCED),
});

describe("bytes of a page of STATUS", () => {
  it("are those of its message, for any sessions", () => {
    fc.assert(
      fc.property(fc.array(session, { maxLength: 20 }), head, count, (sessions, at, seenUnixMs) => {
        const bytes = new StatusBytes(GATEWAY).page(seenUnixMs, sessions, () => at);
        const message = create(StatusPageSchema, {
          gateway: GATEWAY,
          seenUnixMs: BigInt(seenUnixMs),
          workloads: sessions.map((each) => statusOf(each, GATEWAY, at)),
        });
        expect(fromBinary(StatusPageSchema, bytes)).toEqual(
          fromBinary(StatusPageSchema, toBinary(StatusPageSchema, message)),
        );
      }),
    );
  });
});
