// First step of `npm start` and `npm test`: makes a fresh checkout ready, then hands over.
// Plain JavaScript that runs on Node 20: nothing is installed yet.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { provideNatsServer } from "./nats-server.mjs";

const OLDEST_NODE = 20;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const started = Date.now();

function say(text) {
  process.stderr.write(`[${((Date.now() - started) / 1000).toFixed(1)} s] ${text}\n`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** Installs the locked dependencies unless the last install saw the same lockfile and manifest. */
function install() {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lock = readFileSync(join(root, "pnpm-lock.yaml"));
  const wanted = createHash("sha256").update(lock).update(manifest.packageManager).digest("hex");
  const stamp = join(root, "node_modules", ".ringwall-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  say(`installing dependencies with ${manifest.packageManager} (about a minute the first time)`);
  const npx = process.platform === "win32" ? "npx.cmd" : "npx";
  const run = spawnSync(
    npx,
    ["-y", manifest.packageManager, "install", "--frozen-lockfile", "--reporter=append-only"],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );
  if (run.status !== 0) {
    process.stderr.write(`${run.stdout ?? ""}${run.stderr ?? ""}`);
    fail(
      `The dependencies could not be installed (${run.error?.message ?? `exit ${run.status}`}).\n` +
        `By hand: npx ${manifest.packageManager} install --frozen-lockfile; it needs the npm registry.`,
    );
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
}

const COMMANDS = {
  setup: () => [],
  dev: (rest) => ["packages/cli/src/main.ts", "dev", ...rest],
  ringwall: (rest) => ["packages/cli/src/main.ts", ...rest],
  test: (rest) => ["node_modules/vitest/vitest.mjs", "run", ...rest],
};

async function main([command = "setup", ...rest]) {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < OLDEST_NODE) {
    fail(
      `Node ${process.versions.node} is too old: install Node ${OLDEST_NODE} or newer, then start again.`,
    );
  }
  const arguments_ = COMMANDS[command];
  if (arguments_ === undefined)
    fail(`unknown command "${command}": one of ${Object.keys(COMMANDS).join(", ")}`);
  install();
  const natsServer = await provideNatsServer(root, say).catch((error) => fail(error.message));
  if (Date.now() - started > 3000) say("ready");
  if (command === "setup") return;
  const node = join(root, "node_modules", "node", "bin", "node");
  const child = spawn(node, arguments_(rest), {
    cwd: command === "ringwall" ? process.cwd() : root,
    stdio: "inherit",
    env: {
      ...process.env,
      RINGWALL_NATS_SERVER: natsServer,
      PATH: `${dirname(node)}:${process.env.PATH}`,
    },
  });
  // Ctrl-C reaches the child by itself; waiting for it keeps the prompt away until it has stopped.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => fail(`${node} can't be run: ${error.message}`));
  child.once("close", (code) => process.exit(code ?? 1));
}

await main(process.argv.slice(2));
