import { create, toBinary } from "@bufbuild/protobuf";
import { UpSchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAck } from "./ack-bytes.ts";
import { fromHex } from "./hex.ts";

const number = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 1, 127, 128, 2 ** 49));
const acks = fc.record({
  session: number,
  seq: number,
  epoch: number,
  version: number,
  digest: fc.option(
    fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((value) => Buffer.from(value).toString("hex")),
    { nil: "" },
  ),
  status: fc.integer({ min: 0, max: 3 }),
  detail: fc.string({ maxLength: 40 }).map((text) => Buffer.from(text).toString("utf8")),
});

type Ack = typeof acks extends fc.Arbitrary<infer Value> ? Value : never;

function encode({ session, seq, epoch, version, digest, status, detail }: Ack): Uint8Array {
  const value = {
    seq: BigInt(seq),
    epoch: BigInt(epoch),
    version: BigInt(version),
    digest: fromHex(digest),
    detail,
  };
  const up = create(UpSchema, { session: BigInt(session), body: { case: "ack", value } });
  if (up.body.case === "ack") {
    // The generated type names the values of today; any is possible on the wire.
    up.body.value.status = status as 0 | 1 | 2 | 3;
  }
  return toBinary(UpSchema, up);
}

describe("readAck", () => {
  it("reads what the protobuf runtime writes", () => {
    fc.assert(
      fc.property(acks, (ack) => {
        expect(readAck(encode(ack))).toEqual(ack);
      }),
    );
  });

  it("gives nothing, and does not throw, for any other bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const ack = readAck(bytes);
        expect(ack === undefined || Number.isSafeInteger(ack.seq)).toBe(true);
      }),
    );
  });

  it("gives nothing for an acknowledgement that is cut", () => {
    fc.assert(
      fc.property(acks, fc.nat(), (ack, at) => {
        const whole = encode({ ...ack, seq: 5 });
        expect(readAck(whole.subarray(0, at % whole.length))).toBeUndefined();
      }),
    );
  });

  it("leaves a Hello to the protobuf runtime", () => {
    const hello = create(UpSchema, { body: { case: "hello", value: { nonce: 3n } } });
    expect(readAck(toBinary(UpSchema, hello))).toBeUndefined();
  });
});
