import { Layer } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiFailure } from "../api/api-failure.ts";
import { compareBytes } from "./file-order.ts";
import { pathProblem } from "./file-path.ts";
import { type FileEntry, keyOf, LiveTree, merge, type TreeChange } from "./live-tree.ts";
import { proposedChange } from "./proposed-change.ts";

const sha = (digit: string) => digit.repeat(64);
const entry = (path: string, sha256: string, size = 1): FileEntry => ({
  key: keyOf(Layer.CORE, path),
  layer: Layer.CORE,
  path,
  sha256,
  size,
});
const put = (path: string, digit: string, size = 1n, layer: Layer = Layer.CORE) => ({
  $typeName: "ringwall.v1.FilePut" as const,
  layer,
  path,
  sha256: new Uint8Array(Buffer.from(sha(digit), "hex")),
  size,
});
const gone = (path: string) => ({
  $typeName: "ringwall.v1.FileDelete" as const,
  layer: Layer.CORE,
  path,
});

const pathText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 });
const change = fc
  .uniqueArray(fc.tuple(pathText, fc.boolean()), { selector: ([path]) => path })
  .map((files): TreeChange => {
    const sorted = files.toSorted(([a], [b]) => compareBytes(a, b));
    return {
      puts: sorted.filter(([, puts]) => puts).map(([path]) => entry(path, sha("a"))),
      deletes: sorted.filter(([, puts]) => !puts).map(([path]) => keyOf(Layer.CORE, path)),
    };
  });

describe("compareBytes", () => {
  it("orders as the bytes of UTF-8 do", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareBytes(a, b))).toBe(bytes);
      }),
    );
  });
});

describe("LiveTree", () => {
  it("is in order after any changes, whether it was kept in order or put in order at the end", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        const late = new LiveTree();
        const kept = new LiveTree();
        let merged: readonly FileEntry[] = kept.sorted();
        for (const one of changes) {
          late.apply(one);
          kept.apply(one);
          merged = merge(merged, one);
          kept.sorted();
        }
        expect(kept.sorted()).toEqual(late.sorted());
        expect(merged).toEqual(late.sorted());
      }),
    );
  });
});

describe("proposedChange", () => {
  const tree = new LiveTree();
  tree.apply({ puts: [entry("a", sha("a")), entry("b", sha("b"))], deletes: [] });

  it("leaves out what the tree says already", () => {
    const { change: left, files } = proposedChange(
      [put("b", "b"), put("a", "c"), put("0", "d")],
      [gone("x")],
      tree,
    );
    expect(left.puts.map(({ path }) => path)).toEqual(["0", "a"]);
    expect(left.deletes).toEqual([]);
    expect(files.map(({ path, sha256 }) => path + sha256[0])).toEqual(["0d", "ac", "bb"]);
  });

  it.each([
    ["a layer that is none", [put("a", "a", 1n, Layer.UNSPECIFIED)], []],
    ["a path that leaves its layer", [put("../a", "a")], []],
    ["a file that is put twice", [put("a", "a"), put("a", "b")], []],
    ["a file that is put and deleted", [put("a", "a")], [gone("a")]],
    ["a digest of another length", [{ ...put("a", "a"), sha256: new Uint8Array(3) }], []],
  ])("refuses %s", (_what, puts, deletes) => {
    const act = () => proposedChange(puts, deletes, tree);
    expect(act).toThrow(ApiFailure);
    expect(act).toThrow(expect.objectContaining({ code: "invalid" }));
  });

  it.each([
    ["a file above 16 MiB", [put("c", "c", 16n * 1024n * 1024n + 1n)]],
    ["a commit above 16 MiB", [put("c", "c", 9_000_000n), put("d", "d", 9_000_000n)]],
  ])("refuses %s with actual and allowed size", (_what, puts) => {
    const act = () => proposedChange(puts, [], tree);
    expect(act).toThrow(expect.objectContaining({ code: "too_large" }));
    expect(act).toThrow(/has \d+ bytes.*allowed are 16777216/);
  });
});

describe("pathProblem", () => {
  it.each(["", "/a", "a/", "a//b", "./a", "a/..", "a\\b", "a\0", "x".repeat(4_097)])(
    "refuses %j",
    (path) => {
      expect(pathProblem(path)).toBeTypeOf("string");
    },
  );

  it.each(["a", "policy/service/web/service.yaml", "…/ü", "a..b"])("takes %j", (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });
});
