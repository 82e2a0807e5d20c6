import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../telemetry/paths.ts";

const PAGES = globSync(
  [
    "*.md",
    "docs/**/*.md",
    "deploy/**/*.md",
    "examples/**/*.md",
    "packages/*/*.md",
    "services/*/*.md",
  ],
  { cwd: ROOT, exclude: (path) => String(path).includes("node_modules") },
).sort();

/** Anchors that a page's headings give. */
function anchors(text: string): Set<string> {
  return new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** Links of a page that lead to nothing in this checkout. */
function broken(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8").replaceAll(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = "", anchor = ""] = target.split("#");
    const file = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
    if (!existsSync(file)) return [`${target} (${relative(ROOT, file)})`];
    const isPage = anchor !== "" && file.endsWith(".md");
    return isPage && !anchors(readFileSync(file, "utf8")).has(anchor) ? [target] : [];
  });
}

describe("links in the documentation", () => {
  it("lead to files and headings that are there", () => {
    expect(PAGES.length).toBeGreaterThan(10);
    expect(PAGES.flatMap((page) => broken(page).map((link) => `${page}: ${link}`))).toEqual([]);
  });
});
