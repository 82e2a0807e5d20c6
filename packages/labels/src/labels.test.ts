import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareBytes,
  formatSelector,
  isLabelKey,
  isLabelValue,
  isTagValue,
  LabelsError,
  labelProblems,
  labelsVersion,
  matches,
  parseSelector,
} from "./index.ts";

const value = fc
  .stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/)
  .filter(isLabelValue);
const key = fc.oneof(
  value,
  fc.tuple(value, value).map(([a, b]) => `${a.slice(0, 31)}/${b.slice(-31)}`),
);
const labels = fc.dictionary(key.filter(isLabelKey), value, { maxKeys: 6 });
const selector = fc.dictionary(
  key.filter(isLabelKey),
  fc.uniqueArray(value, { minLength: 1, maxLength: 4 }),
  { maxKeys: 5 },
);

describe("label grammar", () => {
  it("takes 63 bytes and refuses 64", () => {
    expect(isLabelKey("k".repeat(63))).toBe(true);
    expect(isLabelKey("k".repeat(64))).toBe(false);
    expect(isLabelValue("v".repeat(63))).toBe(true);
    expect(isLabelValue("v".repeat(64))).toBe(false);
  });

  it("allows a slash in keys only", () => {
    expect(isLabelKey("team/owner")).toBe(true);
    expect(isLabelValue("team/owner")).toBe(false);
  });

  it("takes the wildcard as a tag value, not as a label value", () => {
    expect(isTagValue("*")).toBe(true);
    expect(isTagValue("v1")).toBe(true);
    expect(isTagValue("v*")).toBe(false);
    expect(isLabelValue("*")).toBe(false);
  });

  it("reports every fault of a label set at once", () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`k${at}`, "v"]));
    const problems = labelProblems({ ...many, "-bad": "also bad" });
    expect(problems.map(({ code, key: at }) => [code, at])).toEqual([
      ["label-key", "-bad"],
      ["label-value", "-bad"],
      ["labels-limit", ""],
    ]);
    expect(problems[2]?.message).toBe("66 labels, at most 64 are allowed");
    expect(labelProblems({ app: "web" })).toEqual([]);
  });
});

describe("selector text", () => {
  it("refuses a key that is named twice and says how to write alternatives", () => {
    expect(() => parseSelector("app=web app=api")).toThrow(/named twice.*app=a\|b/);
  });

  it("ignores empty terms and white space around the signs", () => {
    expect(parseSelector(" , app\u0085=\u2003web\t|\napi ,, env=prod,")).toEqual({
      app: ["web", "api"],
      env: ["prod"],
    });
  });

  it.each(["app=,env=x", "app=web|,x=y", "|", "=", "app = = web", "app=web \ufeff", "a=b c = "])(
    "refuses %j with the stable code",
    (text) => {
      expect(() => parseSelector(text)).toThrow(LabelsError);
      expect(() => parseSelector(text)).toThrow(
        expect.objectContaining({ code: "selector-syntax" }),
      );
    },
  );

  it("reads a megabyte of white space without slowing down", () => {
    expect(parseSelector(`${" ".repeat(1_000_000)}app=web`)).toEqual({ app: ["web"] });
  });

  it("reads back what it wrote", () => {
    fc.assert(
      fc.property(selector, (wanted) => {
        expect(parseSelector(formatSelector(wanted))).toEqual(wanted);
      }),
    );
  });

  it("returns a selector or the stable error for any text", () => {
    const piece = fc.oneof(fc.constantFrom("=", "|", ",", " ", "app", "x/y", "-"), fc.string());
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          const read = parseSelector(pieces.join(""));
          expect(parseSelector(formatSelector(read))).toEqual(read);
        } catch (error) {
          expect(error).toBeInstanceOf(LabelsError);
        }
      }),
    );
  });
});

describe("matches", () => {
  it("agrees with the definition", () => {
    fc.assert(
      fc.property(selector, labels, (wanted, own) => {
        const keys = Object.keys(wanted);
        const all = keys.every((each) => (wanted[each] ?? []).includes(own[each] ?? ""));
        expect(matches(wanted, own)).toBe(keys.length > 0 && all);
      }),
    );
  });

  it("does not read members that every object inherits as labels", () => {
    expect(matches({ constructor: ["x"] }, {})).toBe(false);
    expect(matches({ constructor: ["x"] }, { constructor: "x" })).toBe(true);
  });

  it("keeps matching when labels are added", () => {
    fc.assert(
      fc.property(labels, labels, (own, more) => {
        const wanted = Object.fromEntries(Object.entries(own).map(([k, v]) => [k, [v]]));
        expect(matches(wanted, { ...more, ...own })).toBe(Object.keys(own).length > 0);
      }),
    );
  });
});

describe("labelsVersion", () => {
  it("does not depend on the order of the keys", () => {
    fc.assert(
      fc.property(labels, (own) => {
        const reversed = Object.fromEntries(Object.entries(own).reverse());
        expect(labelsVersion(reversed)).toBe(labelsVersion(own));
      }),
    );
  });

  it("changes with a value", () => {
    expect(labelsVersion({ app: "web" })).not.toBe(labelsVersion({ app: "api" }));
  });
});

describe("compareBytes", () => {
  it("orders as the UTF-8 bytes do", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        const wanted = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareBytes(a, b))).toBe(wanted);
      }),
    );
  });
});
