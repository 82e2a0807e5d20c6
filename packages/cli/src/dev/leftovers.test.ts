import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endLeftovers, ProcessNotes } from "./leftovers.ts";

describe.skipIf(process.platform !== "linux")("endLeftovers", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "ringwall-leftovers-"));
  });

  afterEach(() => rm(root, { recursive: true }));

  it("ends what is still the noted process", async () => {
    const child = spawn("sleep", ["61"]);
    const gone = new Promise<string | null>((resolve) =>
      child.once("exit", (_code, signal) => resolve(signal)),
    );
    await new Promise((resolve) => child.once("spawn", resolve));
    const notes = new ProcessNotes(root);
    notes.note("sleeper", child.pid ?? 0, "sleep 61");
    await notes.written();
    expect(await endLeftovers(root)).toBe(1);
    expect(await gone).toBe("SIGTERM");
  });

  it("leaves a process alone whose number was given to something else", async () => {
    const notes = new ProcessNotes(root);
    notes.note("other", process.pid, "nats-server -c nats.conf");
    await notes.written();
    expect(await endLeftovers(root)).toBe(0);
  });

  it("finds nothing after a clean stop", async () => {
    const notes = new ProcessNotes(root);
    notes.note("other", process.pid, process.argv.join(" "));
    await notes.clear();
    expect(await readdir(root)).toEqual([]);
    expect(await endLeftovers(root)).toBe(0);
  });
});
