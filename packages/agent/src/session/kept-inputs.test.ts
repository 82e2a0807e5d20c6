import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Inputs, InputsSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { keptInputs } from "./kept-inputs.ts";

const INPUTS = {
  generation: 1n,
  configSequence: 2n,
  commitId: new Uint8Array(32).fill(3),
  registryRevision: 4n,
  registryTimeUnixMs: 5n,
};

function read(init: Partial<typeof INPUTS>): Inputs {
  return fromBinary(InputsSchema, toBinary(InputsSchema, create(InputsSchema, init)));
}

describe("keptInputs", () => {
  it("gives equal inputs as one copy that holds no foreign buffer", () => {
    const kept = keptInputs(read(INPUTS));
    expect(kept).toEqual(create(InputsSchema, INPUTS));
    expect(kept?.commitId.buffer.byteLength).toBe(32);
    expect(keptInputs(read(INPUTS))).toBe(kept);
  });

  it("tells inputs apart by each of their fields", () => {
    expect(Object.keys(INPUTS).sort()).toEqual(
      InputsSchema.fields.map(({ localName }) => localName).sort(),
    );
    for (const name of Object.keys(INPUTS)) {
      keptInputs(read(INPUTS));
      const other = read({ ...INPUTS, [name]: name === "commitId" ? new Uint8Array(32) : 9n });
      expect(keptInputs(other)).toEqual(other);
    }
  });

  it("keeps the absence of inputs", () => {
    expect(keptInputs(undefined)).toBeUndefined();
  });
});
