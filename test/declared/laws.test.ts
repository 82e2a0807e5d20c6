import { IGNITION, RINGWALL } from "@ringwall/declared";
import fc from "fast-check";
import { describe, it } from "vitest";
import { checkLaws } from "./laws.ts";
import { ignitionSides, ringwallSides } from "./live-sides.ts";

/** Trees of each profile; `pnpm declared:long` runs more. */
const TREES = 250;

describe("a pulled tree", () => {
  it("obeys the laws of the ignition profile", () => {
    fc.assert(
      fc.property(ignitionSides, (side) => checkLaws(IGNITION, side)),
      { numRuns: TREES },
    );
  });

  it("obeys the laws of the ringwall profile", () => {
    fc.assert(
      fc.property(ringwallSides, (side) => checkLaws(RINGWALL, side)),
      { numRuns: TREES },
    );
  });
});
