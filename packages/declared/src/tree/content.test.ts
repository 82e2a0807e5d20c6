import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Content } from "./content.ts";

describe("Content", () => {
  const content = Content.ofText("hunter2");

  it("shows its bytes to nobody who prints it", () => {
    const printed = [
      inspect(content, { depth: Infinity, showHidden: true }),
      JSON.stringify({ content }),
      String(content),
      Object.keys(content).join(),
    ];
    for (const text of printed) expect(text).not.toMatch(/hunter2|104, 117/);
    expect(JSON.stringify(content)).toBe('{"bytes":7}');
  });

  it("compares bytes", () => {
    expect(content.equals(Content.ofText("hunter2"))).toBe(true);
    expect(content.equals(Content.ofText("hunter3"))).toBe(false);
    expect(content.equals(Content.ofText(""))).toBe(false);
  });

  it("has no text where the bytes are not UTF-8", () => {
    expect(new Content(new Uint8Array([0xff])).text()).toBeUndefined();
    expect(Content.ofText("\ufeffa").text()).toBe("\ufeffa");
  });
});
