// Holds the arrows of the architecture: who may import whom, and what a pure package may touch.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Workspace packages that each package may import; arrows point down only. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  labels: [],
  endpointmeta: ["wire"],
  rendered: ["wire"],
  routes: ["wire"],
  sources: ["wire", "endpointmeta", "labels"],
  render: ["wire", "labels", "rendered", "routes", "endpointmeta"],
  "lock-file": [],
  declared: ["lock-file"],
  actor: [],
  bus: ["wire", "actor", "telemetry"],
  telemetry: ["actor"],
  agent: ["wire", "actor", "rendered", "endpointmeta", "bus", "telemetry", "lock-file"],
  cli: [
    ...["wire", "labels", "endpointmeta", "rendered", "routes", "sources", "render", "declared"],
    ...["actor", "bus", "telemetry", "agent", "lock-file"],
  ],
  testkit: ["wire", "labels", "rendered", "routes", "endpointmeta", "render", "actor", "bus"],
};
const SERVICES_MAY_IMPORT = Object.keys(MAY_IMPORT).filter((name) => name !== "testkit");

/** Packages whose shipped code reads no clock, random, I/O or logger. */
const PURE = new Set([
  "labels",
  "endpointmeta",
  "rendered",
  "routes",
  "sources",
  "render",
  "declared",
]);
/** Where a pure package keeps its one edge to the file system. */
const EDGE = /^packages\/declared\/src\/fs\//;
/** In services everything is a pure reducer but the entry point and the adapters. */
const SERVICE_EDGE = /^services\/[^/]+\/src\/(main\.ts|edge\/|sources\/)/;

const PURE_BUILTINS: Readonly<Record<string, readonly string[]>> = {
  "node:crypto": ["createHash", "hash"],
  "node:buffer": ["Buffer", "isUtf8"],
};
const IMPURE_WORDS =
  /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|process\.(env|stdout|stderr|hrtime|argv|cwd)|console\.|(?<![.#\w])fetch\(|crypto\.randomUUID|randomBytes)/;
const IMPURE_LIBRARIES = /^(@nats-io\/|pino|@opentelemetry\/|prom-client)/;

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?([^"';]*?)\s*from\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)|(?:^|\n)\s*import\s+"([^"]+)"/g;

interface Import {
  readonly target: string;
  readonly names: readonly string[];
}

function importsOf(text: string): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => ({
    target: match[3] ?? match[4] ?? match[5] ?? "",
    names: (match[2] ?? "")
      .replace(/[{}]/g, "")
      .split(",")
      .map(
        (name) =>
          name
            .replace(/^\s*type\s+/, "")
            .split(" as ")[0]
            ?.trim() ?? "",
      )
      .filter((name) => name !== ""),
  }));
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mts)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("/node_modules/") && !file.includes("/gen/"));
}

const problems: string[] = [];

function checkFile(
  kind: "packages" | "services",
  name: string,
  declared: Set<string>,
  file: string,
): void {
  const path = relative(root, file);
  const test = /\.test\.ts$|\/testing\//.test(path);
  const text = withoutComments(readFileSync(file, "utf8"));
  const allowed = kind === "services" ? SERVICES_MAY_IMPORT : (MAY_IMPORT[name] ?? []);
  const pure =
    !test &&
    ((kind === "packages" && PURE.has(name) && !EDGE.test(path)) ||
      (kind === "services" && !SERVICE_EDGE.test(path) && name !== "agent"));
  for (const { target, names } of importsOf(text)) {
    if (target.startsWith(".")) {
      const inside = resolve(dirname(file), target);
      if (!inside.startsWith(join(root, kind, name, "src"))) {
        problems.push(`${path}: "${target}" leaves the package; import the other package's face`);
      }
    } else if (target.startsWith("@ringwall/")) {
      const other = target.split("/")[1] ?? "";
      if (target.includes("/src/"))
        problems.push(`${path}: "${target}" reaches into another package's src`);
      if (!allowed.includes(other) && !(test && other === "testkit") && other !== name) {
        problems.push(`${path}: ${kind}/${name} may not import @ringwall/${other}`);
      }
      if (!declared.has(`@ringwall/${other}`) && other !== name) {
        problems.push(`${path}: @ringwall/${other} is not in ${kind}/${name}/package.json`);
      }
    } else if (pure && target.startsWith("node:")) {
      const fine = PURE_BUILTINS[target];
      const bad = fine === undefined ? [target] : names.filter((each) => !fine.includes(each));
      if (bad.length > 0) problems.push(`${path}: pure code may not import ${bad.join(", ")}`);
    } else if (pure && IMPURE_LIBRARIES.test(target)) {
      problems.push(`${path}: pure code may not import ${target}`);
    }
  }
  const word = pure ? IMPURE_WORDS.exec(text) : null;
  if (word !== null) problems.push(`${path}: pure code may not use ${word[0]}`);
}

let files = 0;
for (const kind of ["packages", "services"] as const) {
  for (const entry of readdirSync(join(root, kind), { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    if (kind === "packages" && MAY_IMPORT[entry.name] === undefined) {
      problems.push(`packages/${entry.name}: not in the table of scripts/check-imports.ts`);
      continue;
    }
    const manifest: unknown = JSON.parse(
      readFileSync(join(root, kind, entry.name, "package.json"), "utf8"),
    );
    const sections = manifest as Record<string, Record<string, string> | undefined>; // package.json's shape
    const declared = new Set([
      ...Object.keys(sections.dependencies ?? {}),
      ...Object.keys(sections.devDependencies ?? {}),
    ]);
    for (const file of sourcesBelow(join(root, kind, entry.name, "src"))) {
      files += 1;
      checkFile(kind, entry.name, declared, file);
    }
  }
}
if (files === 0) problems.push("no source files found: the check looked at nothing");
process.stdout.write(`${problems.map((line) => `${line}\n`).join("")}`);
process.stdout.write(`import rules: ${files} files, ${problems.length} problems\n`);
process.exit(problems.length === 0 ? 0 : 1);
