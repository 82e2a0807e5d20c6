import { describe, expect, it } from "vitest";
import { choosePaint, harmless, visibleLength } from "./paint.ts";

const colours = (
  isTerminal: boolean,
  wanted: boolean,
  environment: Record<string, string | undefined> = {},
) => choosePaint({ isTerminal, wanted, environment }).red("x") !== "x";

describe("choosePaint", () => {
  it("colours on a terminal only", () => {
    expect(colours(true, true)).toBe(true);
    expect(colours(false, true)).toBe(false);
  });

  it("respects --no-color, a non-empty NO_COLOR and a dumb terminal", () => {
    expect(colours(true, false)).toBe(false);
    expect(colours(true, true, { NO_COLOR: "1" })).toBe(false);
    expect(colours(true, true, { NO_COLOR: "" })).toBe(true);
    expect(colours(true, true, { TERM: "dumb" })).toBe(false);
  });

  it("keeps empty text empty", () => {
    const paint = choosePaint({ isTerminal: true, wanted: true, environment: {} });
    expect(paint.red("")).toBe("");
    expect(visibleLength(paint.bold(paint.red("abc")))).toBe(3);
  });
});

describe("harmless", () => {
  it("takes the power from escape sequences in text from elsewhere", () => {
    expect(harmless("a\u001b[2Jb\u0007\u009b")).toBe("a\ufffd[2Jb\ufffd\ufffd");
    expect(harmless("plain ünïcode\ttab")).toBe("plain ünïcode\ttab");
  });
});
