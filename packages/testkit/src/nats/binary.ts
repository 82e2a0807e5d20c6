import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST_MAJOR = 2;
const OLDEST_MINOR = 12;
const ROOT = dirname(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))));

/**
 * Path of a nats-server ≥ 2.12: `$RINGWALL_NATS_SERVER`, else the one on PATH, else
 * `.tools/nats-server` of the workspace. Throws an Error that lists what was tried.
 */
export function natsServerBinary(): string {
  const named = process.env.RINGWALL_NATS_SERVER;
  const candidates = named ? [named] : ["nats-server", join(ROOT, ".tools", "nats-server")];
  const tried: string[] = [];
  for (const candidate of candidates) {
    if (candidate.includes("/") && !existsSync(candidate)) {
      tried.push(`${candidate}: not there`);
      continue;
    }
    const run = spawnSync(candidate, ["--version"], { encoding: "utf8" });
    const match = /v(\d+)\.(\d+)\./.exec(run.stdout ?? "");
    const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
    if (major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR)) {
      return candidate;
    }
    tried.push(`${candidate}: ${match === null ? "does not run" : `is ${major}.${minor}`}`);
  }
  throw new Error(
    `no nats-server ${OLDEST_MAJOR}.${OLDEST_MINOR} or newer (${tried.join("; ")}); ` +
      "run npm start once, or name one in RINGWALL_NATS_SERVER",
  );
}
