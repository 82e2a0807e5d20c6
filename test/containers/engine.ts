import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "./process.ts";

/** Where a script that provides an engine may lie, beside the checkout. */
const ENGINE_SCRIPT = "../shared/tools/engine";
const ENGINE_MS = 240_000;

/**
 * Makes sure that a Docker engine with Compose answers. Gives the reason when there is none and
 * none can be started; an engine that was started here is left running, as the next run needs it.
 */
export async function provideEngine(root: string): Promise<string | undefined> {
  const missing = await engineProblem();
  const script = join(root, ENGINE_SCRIPT);
  if (missing === undefined || !existsSync(script)) {
    return missing;
  }
  const started = await run(script, ["up"], {
    timeoutMs: ENGINE_MS,
    environment: {
      NODE_BIN: join(root, "node_modules/node/bin/node"),
      NATS_BIN: process.env.RINGWALL_NATS_SERVER || join(root, ".tools/nats-server"),
    },
  });
  if (started.code !== 0) {
    return `no engine could be started: ${lastLine(started.stderr) || `exit ${started.code}`}`;
  }
  return engineProblem();
}

async function engineProblem(): Promise<string | undefined> {
  const engine = await run("docker", ["info", "--format", "{{.ServerVersion}}"]);
  if (engine.code !== 0) {
    return `no Docker engine answers: ${lastLine(engine.stderr) || "docker is not installed"}`;
  }
  const compose = await run("docker", ["compose", "version", "--short"]);
  return compose.code === 0 ? undefined : "the engine has no Compose plugin (docker compose)";
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
