// Bundles each service, the agent and the command into one file each, for the image.
import { rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");

const ENTRIES = {
  registrar: "services/registrar/src/main.ts",
  renderer: "services/renderer/src/main.ts",
  "version-keeper": "services/version-keeper/src/main.ts",
  "agent-gateway": "services/agent-gateway/src/main.ts",
  agent: "services/agent/src/main.ts",
  ringwall: "packages/cli/src/main.ts",
};

rmSync(out, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: ENTRIES,
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  legalComments: "linked",
  sourcemap: false,
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "warning",
  // Libraries that are still CommonJS ask for these two.
  banner: {
    js: 'import{createRequire as ringwallRequire}from"node:module";const require=ringwallRequire(import.meta.url);',
  },
});
for (const name of Object.keys(ENTRIES)) {
  const { size } = statSync(join(out, `${name}.mjs`));
  process.stdout.write(`${name.padEnd(16)} ${(size / 1024).toFixed(0).padStart(6)} KiB\n`);
}
