import { isDeepStrictEqual } from "node:util";
import { FAMILIES } from "./families.ts";
import type { Family, VectorFunction } from "./family.ts";

/** What became of one vector. */
export interface Outcome {
  readonly id: string;
  readonly fn: string;
  readonly verdict: "passed" | "failed" | "unknown";
  /** Wanted and actual value, or why there is none; empty if it passed. */
  readonly detail: readonly string[];
}

interface Vector {
  readonly id: string;
  readonly fn: string;
  readonly in: unknown;
  readonly want?: unknown;
  readonly wantError?: string;
  readonly findings?: unknown;
}

/** What a function did: returned JSON, or failed with a stable code, or broke. */
type Result =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "failed"; readonly code: string; readonly findings: unknown }
  | { readonly kind: "broke"; readonly message: string };

const DETAIL_MAX = 4_000;

/**
 * Runs every vector of a JSON Lines text, in order. Lines that are no vector and ids that come
 * twice fail; a function without a binding is `unknown`. Blank lines are skipped.
 */
export async function runVectors(text: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const ids = new Set<string>();
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const vector = readVector(line);
    if (vector === undefined) {
      outcomes.push(
        broken(`line ${at + 1}`, "", "no vector: an object with id, fn, in, and want or wantError"),
      );
    } else if (ids.has(vector.id)) {
      outcomes.push(broken(vector.id, vector.fn, `line ${at + 1}: this id was used before`));
    } else {
      ids.add(vector.id);
      outcomes.push(await runVector(vector));
    }
  }
  return outcomes;
}

function readVector(line: string): Vector | undefined {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isVector(read) ? read : undefined;
}

function isVector(read: unknown): read is Vector {
  if (typeof read !== "object" || read === null) return false;
  const { id, fn, wantError } = read as Partial<Vector>; // each member is checked below
  const wants = "want" in read ? wantError === undefined : typeof wantError === "string";
  return typeof id === "string" && typeof fn === "string" && "in" in read && wants;
}

async function runVector(vector: Vector): Promise<Outcome> {
  const { id, fn } = vector;
  const found = await functionOf(fn);
  if (typeof found === "string") return { id, fn, verdict: "unknown", detail: [found] };
  const result = perform(found, vector.in);
  if (isWanted(vector, result, found)) return { id, fn, verdict: "passed", detail: [] };
  const detail = [`wanted ${wantedText(vector)}`, `actual ${resultText(result, vector)}`];
  return { id, fn, verdict: "failed", detail };
}

/** The bound function, or why there is none. */
async function functionOf(fn: string): Promise<VectorFunction | string> {
  const dot = fn.indexOf(".");
  const load = FAMILIES.get(fn.slice(0, dot));
  if (load === undefined) return `unknown function ${fn}`;
  let family: Family;
  try {
    family = await load();
  } catch (error) {
    return `functions of ${fn.slice(0, dot)} can't be loaded: ${messageOf(error)}`;
  }
  const name = fn.slice(dot + 1);
  const found = Object.hasOwn(family, name) ? family[name] : undefined;
  return found ?? `unknown function ${fn}`;
}

function perform(bound: VectorFunction, input: unknown): Result {
  try {
    // Through JSON, so that unset members and messages compare as the vectors write them.
    return { kind: "returned", value: JSON.parse(JSON.stringify(bound.run(input) ?? null)) };
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): Result {
  if (typeof error === "object" && error !== null && "code" in error) {
    const { code } = error;
    const findings = "findings" in error ? error.findings : undefined;
    if (typeof code === "string") return { kind: "failed", code, findings };
  }
  return { kind: "broke", message: error instanceof Error ? (error.stack ?? "") : String(error) };
}

function isWanted(vector: Vector, result: Result, { same }: VectorFunction): boolean {
  switch (result.kind) {
    case "broke":
      return false;
    case "returned":
      if (vector.wantError !== undefined) return false;
      return (same ?? isDeepStrictEqual)(vector.want, result.value);
    case "failed":
      if (vector.wantError !== result.code) return false;
      return (
        vector.findings === undefined ||
        isDeepStrictEqual(vector.findings, placesOf(result.findings))
      );
  }
}

/** Findings as vectors write them: path and code. */
function placesOf(findings: unknown): unknown {
  if (!Array.isArray(findings)) return findings;
  return findings.map(({ path, code }) => ({ path, code }));
}

function wantedText({ want, wantError, findings }: Vector): string {
  if (wantError === undefined) return shorten(JSON.stringify(want));
  return `error ${wantError}${findings === undefined ? "" : ` ${JSON.stringify(findings)}`}`;
}

function resultText(result: Result, vector: Vector): string {
  switch (result.kind) {
    case "returned":
      return shorten(JSON.stringify(result.value));
    case "failed":
      return vector.findings === undefined
        ? `error ${result.code}`
        : `error ${result.code} ${JSON.stringify(placesOf(result.findings))}`;
    case "broke":
      return `exception ${result.message}`;
  }
}

function shorten(text: string): string {
  const rest = text.length - DETAIL_MAX;
  return rest > 0 ? `${text.slice(0, DETAIL_MAX)}… (${rest} more)` : text;
}

function broken(id: string, fn: string, why: string): Outcome {
  return { id, fn, verdict: "failed", detail: [why] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
