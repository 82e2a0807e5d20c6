import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Content } from "../tree/content.ts";
import { sortPaths } from "../tree/path.ts";
import { type Ledger, readLedger, writeLedger } from "./ledger.ts";

const DIGEST = "0".repeat(64);
const ledger: Ledger = {
  gateway: "gw1",
  mode: "prod",
  renderSha256: DIGEST,
  runId: "first",
  files: ["a/b/c", "a/b/d"],
};

function withChange(change: object): Content {
  const text = writeLedger(ledger).text() ?? "";
  return Content.ofText(JSON.stringify({ ...JSON.parse(text), ...change }));
}

describe("a ledger", () => {
  it("is read as it was written", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "é", "\u{1F600}", "\uff5e"), { minLength: 3, maxLength: 5 })
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.uniqueArray(path), (files) => {
        const written = { ...ledger, files: sortPaths(files) };
        expect(readLedger(writeLedger({ ...written, files }))).toEqual(written);
      }),
    );
  });

  it.each([
    [{ files: ["a/b/d", "a/b/c"] }, "sorted and unique"],
    [{ files: ["a/b/c", "a/b/c"] }, "sorted and unique"],
    [{ files: ["a/b/C", "a/b/c"] }, "differ in case only"],
    [{ files: ["a/b"] }, "fewer than 3 components"],
    [{ files: ["a/../c"] }, 'the component ".."'],
    [{ files: "a/b/c" }, "must be a list"],
    [{ files: [1] }, "must be a list of paths"],
    [{ schema_version: 2 }, "schema_version must be 1"],
    [{ more: 1 }, 'has a key "more"'],
    [{ render_sha256: "x" }, "render_sha256 is not as it must be"],
    [{ run_id: "" }, "run_id is not as it must be"],
    [{ gateway: undefined }, "gateway is not as it must be"],
  ])("is refused with %j", (change, part) => {
    expect(() => readLedger(withChange(change))).toThrow(part);
  });

  it("is refused when it is no object or above its limit", () => {
    expect(() => readLedger(Content.ofText("[]"))).toThrow("no JSON object");
    expect(() => readLedger(Content.ofText("{"))).toThrow("no JSON");
    expect(() => readLedger(new Content(new Uint8Array(8 * 1024 * 1024 + 1)))).toThrow(
      "8388609 bytes, at most 8388608",
    );
  });
});
