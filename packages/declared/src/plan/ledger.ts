import { DeclaredError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { foldCase } from "../lints/names.ts";
import { Content } from "../tree/content.ts";
import { compareBytes, relPathProblem, sortPaths } from "../tree/path.ts";

/** The files that applying this tree wrote: the only ones that applying may delete. */
export interface Ledger {
  readonly gateway: string;
  /** The environment. */
  readonly mode: string;
  readonly renderSha256: string;
  /** Names the apply; for a control plane the id of the commit that it followed. */
  readonly runId: string;
  /** In byte order. `<module>/<type>/…`, or `<layer>/<module>/<type>/…` where layers are kept. */
  readonly files: readonly string[];
}

const KEYS = ["schema_version", "gateway", "mode", "render_sha256", "run_id", "files"] as const;
const LEAST_COMPONENTS = 3;
const DIGEST = /^[0-9a-f]{64}$/;
const RUN = /^[A-Za-z0-9_-]{1,128}$/;

/** Writes a ledger. Throws DeclaredError `ledger` if it breaks its own rules. */
export function writeLedger(ledger: Ledger): Content {
  const files = sortPaths([...ledger.files]);
  checkFiles(files);
  const text = JSON.stringify({
    schema_version: 1,
    gateway: ledger.gateway,
    mode: ledger.mode,
    render_sha256: ledger.renderSha256,
    run_id: ledger.runId,
    files,
  });
  const content = Content.ofText(`${text}\n`);
  checkSize(content);
  return content;
}

/** Reads a ledger, strictly. Throws DeclaredError `ledger`. */
export function readLedger(content: Content): Ledger {
  checkSize(content);
  let read: unknown;
  try {
    read = JSON.parse(content.text() ?? "");
  } catch {
    throw new DeclaredError("ledger", "the ledger is no JSON");
  }
  if (typeof read !== "object" || read === null || Array.isArray(read)) {
    throw new DeclaredError("ledger", "the ledger is no JSON object");
  }
  const unknown = Object.keys(read).find((key) => !KEYS.some((known) => known === key));
  if (unknown !== undefined) throw new DeclaredError("ledger", `the ledger has a key "${unknown}"`);
  // Every member is checked below; a missing one is undefined.
  const { schema_version, gateway, mode, render_sha256, run_id, files } = read as Partial<
    Record<(typeof KEYS)[number], unknown>
  >;
  if (schema_version !== 1) throw new DeclaredError("ledger", "schema_version must be 1");
  const ledger = {
    gateway: matching("gateway", gateway, /^.{1,255}$/),
    mode: matching("mode", mode, /^.{1,255}$/),
    renderSha256: matching("render_sha256", render_sha256, DIGEST),
    runId: matching("run_id", run_id, RUN),
    files: fileNames(files),
  };
  checkFiles(ledger.files);
  return ledger;
}

function matching(key: string, value: unknown, form: RegExp): string {
  if (typeof value === "string" && form.test(value)) return value;
  throw new DeclaredError("ledger", `${key} is not as it must be: ${form.source}`);
}

function fileNames(value: unknown): string[] {
  if (!Array.isArray(value)) throw new DeclaredError("ledger", "files must be a list");
  return value.map((each: unknown) => {
    if (typeof each === "string") return each;
    throw new DeclaredError("ledger", "files must be a list of paths");
  });
}

function checkSize({ size }: Content): void {
  if (size <= LIMITS.ledgerBytes) return;
  throw new DeclaredError(
    "ledger",
    `the ledger has ${size} bytes, at most ${LIMITS.ledgerBytes} are allowed`,
  );
}

function checkFiles(files: readonly string[]): void {
  if (files.length > LIMITS.files) {
    const message = `the ledger has ${files.length} files, at most ${LIMITS.files} are allowed`;
    throw new DeclaredError("ledger", message);
  }
  const folded = new Map<string, string>();
  files.forEach((path, index) => {
    const problem = relPathProblem(path);
    if (problem !== undefined) throw new DeclaredError("ledger", `file "${path}": ${problem}`);
    if (path.split("/").length < LEAST_COMPONENTS) {
      const message = `file "${path}" has fewer than ${LEAST_COMPONENTS} components`;
      throw new DeclaredError("ledger", message);
    }
    const before = files[index - 1];
    if (before !== undefined && compareBytes(before, path) >= 0) {
      const message = `file "${path}" is not behind "${before}": sorted and unique they must be`;
      throw new DeclaredError("ledger", message);
    }
    const twin = folded.get(foldCase(path));
    if (twin !== undefined) {
      throw new DeclaredError("ledger", `files "${twin}" and "${path}" differ in case only`);
    }
    folded.set(foldCase(path), path);
  });
}
