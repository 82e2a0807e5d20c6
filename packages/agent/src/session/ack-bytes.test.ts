import { create, toBinary } from "@bufbuild/protobuf";
import { UpSchema } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AckFields, ackBytes } from "./ack-bytes.ts";

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);
const number = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, LARGEST), fc.constant(LARGEST));
const acks = fc.record({
  session: number,
  epoch: number,
  version: number,
  digest: fc.uint8Array({ maxLength: 40 }),
  status: fc.constantFrom(0, 1, 2, 3),
  detail: fc.string({ unit: "binary", maxLength: 300 }).filter((text) => text.isWellFormed()),
  seq: number,
});

function written({ session, ...value }: AckFields): Uint8Array {
  return toBinary(UpSchema, create(UpSchema, { session, body: { case: "ack", value } }));
}

describe("ackBytes", () => {
  it("writes what the protobuf runtime writes", () => {
    fc.assert(
      fc.property(acks, (fields) => {
        // The generated type names the values of today; any is possible on the wire.
        const ack = fields as AckFields;
        expect(Buffer.from(ackBytes(ack) ?? []).equals(written(ack))).toBe(true);
      }),
    );
  });

  it("leaves numbers above 2^53 to the runtime", () => {
    const ack: AckFields = {
      ...{ session: 1n, epoch: 2n, version: 3n, digest: new Uint8Array(32), status: 1 },
      ...{ detail: "", seq: LARGEST + 1n },
    };
    expect(ackBytes(ack)).toBeUndefined();
  });
});
