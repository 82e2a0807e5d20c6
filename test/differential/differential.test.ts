import { describe, it } from "vitest";
import { checkChurn } from "./check-churn.ts";
import { checkHistory } from "./check-history.ts";

/** `pnpm differential` runs many more. */
const HISTORIES = 200;
const CHURNS = 4;
/** For a machine that does much else. */
const TIMEOUT_MS = 180_000;

describe("Engine", { timeout: TIMEOUT_MS }, () => {
  it("gives what the full render and the definitions give, in every expansion", () => {
    for (let seed = 1; seed <= HISTORIES; seed++) {
      checkHistory(seed);
    }
  });

  it("gives what the full render gives while hundreds of workloads change", () => {
    for (let seed = 1; seed <= CHURNS; seed++) {
      checkChurn(seed);
    }
  });
});
