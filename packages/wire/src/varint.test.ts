import { BinaryReader } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { field, varint } from "./varint.ts";

const numbers = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(),
  fc.nat({ max: 300 }),
  fc.constantFrom(0, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 32, 2 ** 35, Number.MAX_SAFE_INTEGER),
);

describe("varint", () => {
  it("writes what the protobuf runtime reads as the same number", () => {
    fc.assert(
      fc.property(numbers, (value) => {
        const buffer = new Uint8Array(16);
        const end = varint(buffer, 1, value);
        const reader = new BinaryReader(buffer.subarray(1, end));
        expect(Number(reader.uint64())).toBe(value);
        expect(reader.pos).toBe(end - 1);
      }),
    );
  });

  it("takes no byte more than it has to", () => {
    fc.assert(
      fc.property(numbers, (value) => {
        const groups = Math.max(1, Math.ceil(value.toString(2).length / 7));
        expect(varint(new Uint8Array(16), 0, value)).toBe(groups);
      }),
    );
  });

  it("leaves a field that is 0 out", () => {
    expect(field(new Uint8Array(4), 2, 0x08, 0)).toBe(2);
  });
});
