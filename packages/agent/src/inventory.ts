import type { NetworkInterfaceInfo } from "node:os";
import { create } from "@bufbuild/protobuf";
import { type InventoryReport, InventoryReportSchema } from "@ringwall/wire";
import { AgentError } from "./errors.ts";

/** Largest annotations file. */
export const ANNOTATIONS_LIMIT_BYTES = 256 * 1024;

/** What a host says that it serves. Labels are no part of it: they never come from an agent. */
export interface InventoryParts {
  /** Bare or with prefix length. */
  readonly addresses?: readonly string[];
  /** Service keys. */
  readonly services?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Service keys. */
  readonly outbounds?: readonly string[];
  readonly attributes?: Readonly<Record<string, string>>;
  /** Default false. */
  readonly draining?: boolean;
}

/** The report of these parts. */
export function inventoryReport(parts: InventoryParts): InventoryReport {
  return create(InventoryReportSchema, {
    addresses: [...(parts.addresses ?? [])],
    services: [...(parts.services ?? [])],
    annotations: { ...parts.annotations },
    outbounds: [...(parts.outbounds ?? [])],
    attributes: { ...parts.attributes },
    draining: parts.draining ?? false,
  });
}

/** Addresses of a host's interfaces with prefix length, loopback ones left out. */
export function interfaceAddresses(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): readonly string[] {
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter((address) => !address.internal)
    .map((address) => address.cidr ?? address.address);
}

/**
 * Reads annotations: a JSON object of strings, or lines `key="value"` as Kubernetes' downward API
 * writes them (the value in quotes with JSON escapes, or bare). Empty lines and lines that begin
 * with `#` are skipped. Throws AgentError `annotations-invalid`.
 */
export function parseAnnotations(text: string): Readonly<Record<string, string>> {
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > ANNOTATIONS_LIMIT_BYTES) {
    throw invalid(`annotations have ${bytes} bytes, at most ${ANNOTATIONS_LIMIT_BYTES} are read`);
  }
  return text.trimStart().startsWith("{") ? parseJson(text) : parseLines(text);
}

function parseJson(text: string): Readonly<Record<string, string>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw invalid(`annotations are not JSON: ${String(thrown)}`);
  }
  const annotations: Record<string, string> = {};
  // Text that begins with a brace parses to an object or not at all.
  for (const [key, entry] of Object.entries(value as object)) {
    if (typeof entry !== "string") {
      throw invalid(`annotation "${key}" is a ${typeof entry}; write it as a string`);
    }
    annotations[key] = entry;
  }
  return annotations;
}

function parseLines(text: string): Readonly<Record<string, string>> {
  const annotations: Record<string, string> = {};
  text.split("\n").forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) {
      return;
    }
    const cut = line.indexOf("=");
    if (cut <= 0) {
      throw invalid(`line ${index + 1} of the annotations is not key=value`);
    }
    annotations[line.slice(0, cut).trim()] = unquote(line.slice(cut + 1).trim(), index + 1);
  });
  return annotations;
}

function unquote(value: string, line: number): string {
  if (!value.startsWith('"')) {
    return value;
  }
  try {
    return String(JSON.parse(value));
  } catch {
    throw invalid(`line ${line} of the annotations has a value that is not closed or escaped`);
  }
}

function invalid(message: string): AgentError {
  return new AgentError("annotations-invalid", message);
}
