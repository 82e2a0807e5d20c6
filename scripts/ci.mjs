// Runs every check in order, goes on after a failure, and ends with `N passed, M failed`.
// Counts are the suites' own where they print them; a check without a count is one.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const node = join(root, "node_modules", "node", "bin", "node");
const MINUTE_MS = 60_000;
/** How much of a suite's output is kept to be counted and quoted. */
const TAIL_CHARACTERS = 200_000;

/** name, command, arguments, longest time in minutes. */
const STEPS = [
  ["install", process.execPath, ["scripts/bootstrap.mjs", "setup"], 10],
  ["contract: lint", join(bin, "buf"), ["lint"], 2],
  ["contract: breaking", join(bin, "buf"), ["breaking", "--against", "proto/baseline.binpb"], 2],
  ["contract: generated code is up to date", "sh", ["scripts/check-generated.sh"], 2],
  ["format and lint", join(bin, "biome"), ["ci", "--error-on-warnings", "."], 3],
  ["types", join(bin, "tsc"), ["-p", "."], 5],
  ["import rules", node, ["scripts/check-imports.ts"], 2],
  ["npm test", "npm", ["test", "--silent"], 15],
  ...longSuites(),
];

// Suites of package.json's scripts that begin with "ci:", in their order.
function longSuites() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.keys(scripts)
    .filter((name) => name.startsWith("ci:"))
    .map((name) => [name.slice(3), "npm", ["run", "--silent", name], 20]);
}

function run(command, args, minutes) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        CI: "true",
        NO_COLOR: "1",
        PATH: `${bin}:${dirname(node)}:${process.env.PATH}`,
      },
    });
    let tail = "";
    const take = (chunk) => {
      process.stdout.write(chunk);
      tail = (tail + chunk).slice(-TAIL_CHARACTERS);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const timer = setTimeout(() => {
      take(`\nci: stopped after ${minutes} minutes\n`);
      child.kill("SIGKILL");
    }, minutes * MINUTE_MS);
    child.on("error", (error) => take(`${error.message}\n`));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ ok: code === 0, ...counts(tail), faults: code === 0 ? [] : faultsOf(tail) });
    });
  });
}

function counts(text) {
  const plain = [...text.matchAll(/^(\d+) passed, (\d+) failed/gm)];
  if (plain.length > 0) {
    const sum = (index) => plain.reduce((total, match) => total + Number(match[index]), 0);
    return { passed: sum(1), failed: sum(2) };
  }
  const line = /^\s*Tests\s+(.*)$/m.exec(text)?.[1];
  if (line === undefined) return { passed: 0, failed: 0 };
  const number = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: number("passed"), failed: number("failed") };
}

// What a suite says of its failures, said once more where nobody overlooks it.
const FAULT = /^\s*(?:FAIL\b|FAILED\b|× |✗ |failed\b|\w*Error: )|: FAILED$/;
const MOST_FAULTS = 20;

function faultsOf(text) {
  const lines = text.split("\n").filter((line) => FAULT.test(line));
  return [...new Set(lines.map((line) => `       ${line.trim().slice(0, 240)}`))].slice(
    0,
    MOST_FAULTS,
  );
}

let passed = 0;
let failed = 0;
const summary = [];
for (const [name, command, args, minutes] of STEPS) {
  process.stdout.write(`\n=== ${name}\n`);
  const began = Date.now();
  const result = await run(command, args, minutes);
  const own = result.passed + result.failed > 0;
  passed += own ? result.passed : Number(result.ok);
  failed += own ? Math.max(result.failed, result.ok ? 0 : 1) : Number(!result.ok);
  summary.push(
    `${result.ok ? "ok    " : "FAILED"} ${((Date.now() - began) / 1000).toFixed(1).padStart(7)} s  ${name}`,
  );
  if (!result.ok) summary.push(...result.faults);
  if (name === "install" && (!result.ok || !existsSync(node))) break;
}
process.stdout.write(`\n${summary.join("\n")}\n\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
