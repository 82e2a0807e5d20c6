import { readFileSync } from "node:fs";
import { BusError, type OwnOption, type ServiceEnv } from "@ringwall/bus";
import type { RegistrarEnv, RegistrarOptions, Scope } from "../options.ts";
import { Scopes } from "../scopes.ts";

/** Options of the registrar beside the common ones. */
export const OWN_OPTIONS: readonly OwnOption[] = [
  {
    key: "scopes",
    variable: "RINGWALL_SCOPES",
    default: "",
    help: 'JSON file: {"<namespace>": {"services": ["<namespace>/*"], "subnets": ["10.0.0.0/8"]}}',
  },
  {
    key: "staleAfterMs",
    variable: "RINGWALL_STALE_AFTER_MS",
    default: "45000",
    help: "silence after which a workload is stale",
  },
  {
    key: "expireAfterMs",
    variable: "RINGWALL_EXPIRE_AFTER_MS",
    default: "600000",
    help: "silence after which a workload is no longer a peer",
  },
  {
    key: "kubernetes",
    variable: "RINGWALL_KUBERNETES",
    default: "off",
    help: "on: pods of the cluster of KUBECONFIG or of this pod's account become workloads",
  },
];

/** True if the registrar reads a cluster. Throws BusError `invalid-option` on a value other than on and off. */
export function readsKubernetes(options: Readonly<Record<string, string>>): boolean {
  const value = options.kubernetes ?? "off";
  if (value !== "on" && value !== "off") {
    throw invalid(`--kubernetes is "${value}"; it must be on or off`);
  }
  return value === "on";
}

/**
 * Reads the registrar's options from texts. Throws BusError `invalid-option` on a value that is not
 * allowed and on a scopes file that can't be read.
 */
export function registrarEnv(env: ServiceEnv): RegistrarEnv {
  return { ...env, options: registrarOptions(env.options) };
}

function registrarOptions(texts: Readonly<Record<string, string>>): RegistrarOptions {
  const staleAfterMs = milliseconds("stale-after-ms", texts.staleAfterMs);
  const expireAfterMs = milliseconds("expire-after-ms", texts.expireAfterMs);
  if (expireAfterMs <= staleAfterMs) {
    throw invalid(
      `--expire-after-ms is ${expireAfterMs}; it must be above --stale-after-ms, which is ${staleAfterMs}`,
    );
  }
  const file = texts.scopes ?? "";
  return { staleAfterMs, expireAfterMs, ...(file === "" ? {} : { scopes: readScopes(file) }) };
}

function milliseconds(flag: string, text: string | undefined): number {
  const value = /^\d{1,9}$/.test(text ?? "") ? Number(text) : Number.NaN;
  if (!(value >= 1_000)) {
    throw invalid(`--${flag} is "${text}"; it must be a whole number from 1000`);
  }
  return value;
}

function readScopes(file: string): Record<string, Scope> {
  const value = parseFile(file);
  if (!isObject(value)) {
    throw invalid(`${file}: scopes must be an object by namespace`);
  }
  const scopes = Object.fromEntries(
    Object.entries(value).map(([namespace, scope]) => [
      namespace,
      readScope(file, namespace, scope),
    ]),
  );
  try {
    new Scopes(scopes);
  } catch (error) {
    throw invalid(`${file}: ${describe(error)}`);
  }
  return scopes;
}

function parseFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw invalid(`--scopes ${file} can't be read: ${describe(error)}`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readScope(file: string, namespace: string, value: unknown): Scope {
  if (!isObject(value)) {
    throw invalid(`${file}: scope ${namespace} must be an object`);
  }
  const unknown = Object.keys(value).find((key) => key !== "services" && key !== "subnets");
  if (unknown !== undefined) {
    throw invalid(`${file}: scope ${namespace}: "${unknown}" is unknown; services, subnets`);
  }
  return {
    ...texts(file, namespace, "services", value.services),
    ...texts(file, namespace, "subnets", value.subnets),
  };
}

function texts(
  file: string,
  namespace: string,
  key: string,
  value: unknown,
): Record<string, readonly string[]> {
  if (value === undefined) {
    return {};
  }
  if (!Array.isArray(value) || !value.every((each) => typeof each === "string")) {
    throw invalid(`${file}: scope ${namespace}: ${key} must be a list of texts`);
  }
  return { [key]: value };
}

function invalid(message: string): BusError {
  return new BusError("invalid-option", message);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
