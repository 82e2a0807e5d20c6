import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { buildProgram } from "./program.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGES = ["README.md", "docs/*.md", "examples/*/README.md", "deploy/*/README.md"];

/** In backquotes, or a line of a block of commands. */
const NAMED = /`(?:npx )?ringwall ([^`]+)`|^(?:npx )?ringwall ([^#\n]+)/gm;

const program = buildProgram(
  {
    stdout: { write: () => true },
    stderr: { write: () => true },
    environment: {},
    interrupted: new AbortController().signal,
    connect: () => Promise.reject(new Error("no command is run")),
  },
  { write: () => true },
);

const named = globSync(PAGES, { cwd: ROOT }).flatMap((page) =>
  [...readFileSync(ROOT + page, "utf8").matchAll(NAMED)].map(([, inline, line]) => ({
    page,
    words: (inline ?? line ?? "").trim().split(/\s+/),
  })),
);

function commandOf(words: readonly string[]): Command {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) return command;
    command = next;
  }
  return command;
}

describe("the commands that the documentation names", () => {
  it("are found in it", () => {
    expect(named.length).toBeGreaterThan(30);
  });

  it.each(named)("$page: ringwall $words", ({ words }) => {
    const command = commandOf(words);
    const known = [...command.options, ...program.options].flatMap(({ long }) => long ?? []);
    const given = words.flatMap((word) => /^--[a-z-]+/.exec(word) ?? []);
    expect(command).not.toBe(program);
    expect(given.filter((option) => !known.includes(option))).toEqual([]);
    // A group alone does nothing, and neither does a command without what it demands.
    const acts = command.commands.length === 0 || command.registeredArguments.length > 0;
    expect(acts ? [] : command.commands.map((each) => each.name())).toEqual([]);
    const demanded = command.options.filter(({ mandatory }) => mandatory);
    const absent = demanded.filter(
      ({ long, short }) => !given.includes(long ?? "") && !words.includes(short ?? ""),
    );
    expect(absent.map(({ flags }) => flags)).toEqual([]);
  });
});
