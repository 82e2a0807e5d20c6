import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Tally } from "./run-seeds.ts";

/** What a process that simulates has said. */
export interface Said {
  readonly text: string;
  /** Undefined if it did not get as far as its tally. */
  readonly tally: Tally | undefined;
}

/**
 * Simulates in another process with these flags of the command line, until it ends. `heard` is told of
 * every line at once.
 */
export function simulateApart(
  flags: readonly string[],
  heard: (line: string) => void = () => undefined,
): Promise<Said> {
  const script = join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, [script, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A simulation looks at nothing else while it runs: it would go on by itself.
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  let text = "";
  let begun = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    text += chunk;
    const lines = (begun + chunk).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) {
      heard(line);
    }
  });
  return new Promise((resolve) => {
    child.once("close", () => {
      process.removeListener("exit", end);
      resolve({ text, tally: tallyOf(text) });
    });
  });
}

function tallyOf(text: string): Tally | undefined {
  const line = text.split("\n").findLast((each) => each.startsWith("{"));
  // The process writes its own Tally there.
  return line === undefined ? undefined : (JSON.parse(line) as Tally);
}
