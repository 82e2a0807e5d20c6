import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeclaredError } from "../errors.ts";
import { readJson } from "./json-format.ts";
import { parseJson } from "./parse-json.ts";
import { writeJson } from "./write-json.ts";

function formatOf(text: string): string {
  try {
    return readJson(text).format;
  } catch (error) {
    if (error instanceof DeclaredError && error.code === "json") return "invalid";
    throw error;
  }
}

/** What the platform's parser says; it takes duplicate keys, any depth and no byte order mark. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const pieces = fc.constantFrom(
  ...["{", "}", "[", "]", ",", ":", "\n", "  ", '"a"', '"b"', '"\\u003c"', '"<"', "1", "-0.0"],
  ...["1E5", "01", "true", "null", '"\\ud800"', '"\u2028"', "\t", "\u00e9", '"', "\\", "{}", "[]"],
);
const soup = fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(""));
const anyText = fc.oneof(
  soup,
  fc.json(),
  fc.string({ unit: "binary" }),
  fc.jsonValue().map((value) => JSON.stringify(value, undefined, 2)),
);

describe("readJson", () => {
  it("takes what the platform takes, duplicate keys and deep nesting apart", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (formatOf(text) !== "invalid") expect(isJson(text)).toBe(true);
        else if (isJson(text))
          expect(() => parseJson(text)).toThrow(/before in the same object|nesting/);
      }),
      { numRuns: 3_000 },
    );
  });

  it("calls a text gateway exactly if writing it gives the same text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const format = formatOf(text);
        if (format === "invalid") return;
        expect(format === "gateway").toBe(writeJson(parseJson(text)) === text);
      }),
      { numRuns: 3_000 },
    );
  });

  it("writes what it reads back as the same value, in the gateway's layout", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = writeJson(parseJson(JSON.stringify(value)));
        expect(formatOf(text)).toBe("gateway");
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("tells line and column, and no value", () => {
    expect(() => parseJson('{\n  "password": "hunter2",\n  oops\n}')).toThrow(
      "line 3, column 3: no key in double quotes",
    );
  });

  it("allows a nesting of 128 and no more", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(formatOf(nested(128))).toBe("opaque");
    expect(formatOf(nested(129))).toBe("invalid");
  });
});
