import { isLabelKey, isLabelValue } from "@ringwall/labels";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { CliError, type FindingLine } from "../errors.ts";

/** One workload as an adapter reports it. */
export interface EstateWorkload {
  readonly id: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  readonly services: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly outbounds: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}

const MAPS = ["labels", "annotations", "attributes"] as const;
const LISTS = ["addresses", "services", "outbounds"] as const;
const KEYS: ReadonlySet<string> = new Set(["id", "namespace", ...MAPS, ...LISTS]);
const ID = /^[a-z0-9_-]{1,64}$/;

type Fault = (path: string, rule: string, message: string) => void;

/**
 * Reads an estate file: `workloads`, a list of `{id, namespace?, labels?, addresses?, services?,
 * annotations?, outbounds?, attributes?}`. Throws CliError `invalid` with all findings at once.
 */
export function readEstateFile(text: string, file: string): EstateWorkload[] {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const findings: FindingLine[] = document.errors.map((error) => ({
    file,
    line: counter.linePos(error.pos[0]).line,
    path: "",
    rule: "yaml",
    message: error.message.split("\n")[0] ?? "",
    warning: false,
  }));
  const lineOf = (path: readonly (string | number)[]): number => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node: unknown = document.getIn(path.slice(0, length), true);
      if ((isScalar(node) || isMap(node)) && node.range) return counter.linePos(node.range[0]).line;
    }
    return 0;
  };
  if (findings.length > 0) throw invalid(file, findings);
  const root: unknown = document.toJS();
  const list = isRecord(root) ? root.workloads : undefined;
  if (!Array.isArray(list)) {
    throw new CliError("invalid", `${file}: an estate has a list "workloads"`);
  }
  const seen = new Set<string>();
  const workloads = list.map((entry: unknown, index) => {
    const fault: Fault = (path, rule, message) => {
      const at = ["workloads", index, ...(path === "" ? [] : path.split("\0"))];
      const shown = `workloads[${index}]${path === "" ? "" : `.${path.replaceAll("\0", ".")}`}`;
      findings.push({ file, line: lineOf(at), path: shown, rule, message, warning: false });
    };
    const workload = readWorkload(entry, fault);
    if (seen.has(workload.id)) fault("id", "duplicate-name", `${workload.id} is there twice`);
    seen.add(workload.id);
    return workload;
  });
  if (findings.length > 0) throw invalid(file, findings);
  return workloads;
}

function invalid(file: string, findings: readonly FindingLine[]): CliError {
  return new CliError("invalid", `${file}: ${findings.length} findings`, { findings });
}

function readWorkload(entry: unknown, fault: Fault): EstateWorkload {
  const fields = isRecord(entry) ? entry : {};
  if (!isRecord(entry)) fault("", "type", "must be a map");
  for (const key of Object.keys(fields)) {
    if (!KEYS.has(key)) {
      fault(key, "key-unknown", `key "${key}" is not known; known are ${[...KEYS].join(", ")}`);
    }
  }
  const { id, namespace } = fields;
  if (typeof id !== "string" || !ID.test(id)) {
    fault("id", "workload-id", `${JSON.stringify(id)} is no workload id: 1 to 64 of [a-z0-9_-]`);
  }
  if (namespace !== undefined && typeof namespace !== "string") {
    fault("namespace", "type", "must be text");
  }
  const labels = texts(fields, "labels", fault);
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) fault(`labels\0${key}`, "label-key", `"${key}" is no label key`);
    if (!isLabelValue(value))
      fault(`labels\0${key}`, "label-value", `"${value}" is no label value`);
  }
  return {
    id: typeof id === "string" ? id : "",
    namespace: typeof namespace === "string" ? namespace : "",
    labels,
    addresses: list(fields, "addresses", fault),
    services: list(fields, "services", fault),
    annotations: texts(fields, "annotations", fault),
    outbounds: list(fields, "outbounds", fault),
    attributes: texts(fields, "attributes", fault),
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(
  fields: Readonly<Record<string, unknown>>,
  key: (typeof LISTS)[number],
  fault: Fault,
): readonly string[] {
  const value = fields[key] ?? [];
  if (Array.isArray(value) && value.every((item): item is string => typeof item === "string")) {
    return value;
  }
  fault(key, "type", "must be a list of text");
  return [];
}

function texts(
  fields: Readonly<Record<string, unknown>>,
  key: (typeof MAPS)[number],
  fault: Fault,
): Readonly<Record<string, string>> {
  const value = fields[key] ?? {};
  if (!isRecord(value)) {
    fault(key, "type", "must be a map of text");
    return {};
  }
  const kept: [string, string][] = [];
  for (const [name, item] of Object.entries(value)) {
    if (typeof item === "string") kept.push([name, item]);
    else fault(`${key}\0${name}`, "type", "must be text; write numbers in quotes");
  }
  return Object.fromEntries(kept);
}
