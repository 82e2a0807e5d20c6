/**
 * `pnpm reference` writes the pages of docs/reference from the code; with `--check` it only says
 * whether they are up to date and ends with `N passed, M failed`.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../telemetry/paths.ts";
import { configurationPage } from "./configuration-page.ts";
import { metricsPage } from "./metrics-page.ts";

const FOLDER = join(ROOT, "docs", "reference");
const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "configuration.md": configurationPage,
  "metrics.md": metricsPage,
};

const check = process.argv.includes("--check");
await mkdir(FOLDER, { recursive: true });
let failed = 0;
for (const [name, make] of Object.entries(PAGES)) {
  const text = await make();
  const path = join(FOLDER, name);
  const before = await readFile(path, "utf8").catch(() => "");
  if (!check) {
    await writeFile(path, text);
  } else if (before !== text) {
    failed += 1;
    process.stdout.write(`docs/reference/${name} is out of date: run pnpm reference\n`);
  }
}
if (check) {
  process.stdout.write(`${Object.keys(PAGES).length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
