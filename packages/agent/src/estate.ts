import { AgentError } from "./errors.ts";
import type { InventoryParts } from "./inventory.ts";

/** One workload of an estate file. */
export interface EstateWorkload extends InventoryParts {
  readonly workload: string;
  /** Directory of its policies; absent: a directory of its id beside the others. */
  readonly stateDir?: string;
}

const WORKLOAD_ID = /^[a-z0-9_-]{1,64}$/;
const LISTS = ["addresses", "services", "outbounds"] as const;
const MAPS = ["annotations", "attributes"] as const;

/** True if the text can be a workload id: 1 to 64 of `[a-z0-9_-]`. */
export function isWorkloadId(text: string): boolean {
  return WORKLOAD_ID.test(text);
}

/**
 * Reads an estate: a list of `{workload, stateDir?, addresses?, services?, annotations?, outbounds?,
 * attributes?, draining?}`. Throws AgentError `estate-invalid` with every fault at once.
 */
export function parseEstate(value: unknown): readonly EstateWorkload[] {
  if (!Array.isArray(value)) {
    throw new AgentError("estate-invalid", "an estate is a list of workloads");
  }
  const faults: string[] = [];
  const seen = new Set<string>();
  const workloads = value.map((entry: unknown, index) => {
    const workload = parseEntry(entry, `[${index}]`, faults);
    if (seen.has(workload.workload)) {
      faults.push(`[${index}].workload: "${workload.workload}" is there twice`);
    }
    seen.add(workload.workload);
    return workload;
  });
  if (faults.length > 0) {
    throw new AgentError("estate-invalid", faults.join("\n"));
  }
  return workloads;
}

function parseEntry(entry: unknown, at: string, faults: string[]): EstateWorkload {
  if (typeof entry !== "object" || entry === null) {
    faults.push(`${at}: is not an object`);
    return { workload: at };
  }
  const known = new Set<string>(["workload", "stateDir", "draining", ...LISTS, ...MAPS]);
  const fields = new Map<string, unknown>(Object.entries(entry));
  for (const key of fields.keys()) {
    if (!known.has(key)) {
      faults.push(`${at}.${key}: is not known; known are ${[...known].join(", ")}`);
    }
  }
  const id = fields.get("workload");
  if (typeof id !== "string" || !isWorkloadId(id)) {
    faults.push(`${at}.workload: ${JSON.stringify(id)} is not 1 to 64 of [a-z0-9_-]`);
  }
  const stateDir = fields.get("stateDir");
  if (stateDir !== undefined && (typeof stateDir !== "string" || stateDir === "")) {
    faults.push(`${at}.stateDir: is not a path`);
  }
  const draining = fields.get("draining");
  if (draining !== undefined && typeof draining !== "boolean") {
    faults.push(`${at}.draining: is not true or false`);
  }
  return {
    workload: typeof id === "string" ? id : at,
    ...(typeof stateDir === "string" ? { stateDir } : {}),
    ...(draining === true ? { draining } : {}),
    ...Object.fromEntries(
      LISTS.map((key) => [key, texts(fields.get(key), `${at}.${key}`, faults)]),
    ),
    ...Object.fromEntries(MAPS.map((key) => [key, map(fields.get(key), `${at}.${key}`, faults)])),
  };
}

function texts(value: unknown, at: string, faults: string[]): readonly string[] {
  if (value === undefined) {
    return [];
  }
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    faults.push(`${at}: is not a list of strings`);
    return [];
  }
  return value;
}

function map(value: unknown, at: string, faults: string[]): Readonly<Record<string, string>> {
  if (value === undefined) {
    return {};
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const valid = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  if (typeof value !== "object" || value === null || valid.length !== entries.length) {
    faults.push(`${at}: is not a map of strings; write numbers in quotes`);
  }
  return Object.fromEntries(valid);
}
