import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { BusError } from "./errors.ts";
import { DEFAULT_PREFIX, names } from "./names.ts";

/** An option of one service beside the common ones. */
export interface OwnOption {
  /** Key under which `serviceOptions` returns it; the flag is `--<key>` in kebab-case. */
  readonly key: string;
  /** Environment variable that sets it. */
  readonly variable: string;
  /** Value when neither is given. */
  readonly default: string;
  /** One line for `--help`. */
  readonly help: string;
}

/** Options that every service has. */
export interface ServiceOptions {
  readonly natsUrl: string;
  readonly prefix: string;
  readonly environment: string;
  /** Port of /livez, /readyz and /metrics; undefined serves none. */
  readonly httpPort: number | undefined;
  readonly httpHost: string;
  readonly instance: string;
  readonly replicas: number;
  readonly failFast: boolean;
  readonly credsFile: string | undefined;
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  readonly inboxPrefix: string | undefined;
  /** Monitoring endpoint of the server; undefined checks nothing. */
  readonly monitorUrl: string | undefined;
  /** Values of the service's own options. */
  readonly own: Readonly<Record<string, string>>;
  /** The process environment, for telemetry. */
  readonly processEnvironment: Readonly<Record<string, string | undefined>>;
}

const COMMON: readonly OwnOption[] = [
  option("nats-url", "RINGWALL_NATS_URL", "nats://127.0.0.1:4222", "NATS servers, comma-separated"),
  option("prefix", "RINGWALL_PREFIX", DEFAULT_PREFIX, "first part of every subject and stream"),
  option("env", "RINGWALL_ENVIRONMENT", "prod", "environment whose overlay is in force"),
  option("http-port", "RINGWALL_HTTP_PORT", "", "port of /livez, /readyz and /metrics"),
  option("http-host", "RINGWALL_HTTP_HOST", "0.0.0.0", "address of that port"),
  option("instance", "RINGWALL_INSTANCE", "", "id of this instance (default: random)"),
  option("replicas", "RINGWALL_REPLICAS", "1", "replicas of streams that are created"),
  option("nats-creds", "RINGWALL_NATS_CREDS", "", "NATS credentials file"),
  option("nats-ca", "RINGWALL_NATS_CA", "", "CA certificate file"),
  option("nats-cert", "RINGWALL_NATS_CERT", "", "client certificate file"),
  option("nats-key", "RINGWALL_NATS_KEY", "", "client key file"),
  option("nats-monitor-url", "RINGWALL_NATS_MONITOR_URL", "", "NATS monitoring, to check syncing"),
  option("nats-inbox-prefix", "RINGWALL_NATS_INBOX_PREFIX", "", "first part of inbox subjects"),
];

function option(key: string, variable: string, fallback: string, help: string): OwnOption {
  return { key, variable, default: fallback, help };
}

/**
 * Reads a service's options: flags first, then environment variables, then defaults. Throws
 * BusError `invalid-option` that names the option, its value and what is allowed.
 */
export function serviceOptions(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  own: readonly OwnOption[] = [],
): ServiceOptions {
  const options = [...COMMON, ...own.map((each) => ({ ...each, key: kebab(each.key) }))];
  const given = parse(argv, options);
  const value = (key: string) => {
    const found = options.find((each) => each.key === key);
    return given.values[key] ?? environment[found?.variable ?? ""] ?? found?.default ?? "";
  };
  const file = (key: string) => (value(key) === "" ? undefined : value(key));
  const [caFile, certFile, keyFile] = [file("nats-ca"), file("nats-cert"), file("nats-key")];
  const instance = value("instance") || randomBytes(4).toString("hex");
  if (!/^[a-z0-9_-]{1,32}$/.test(instance)) {
    throw invalid("instance", instance, "1 to 32 of [a-z0-9_-]");
  }
  try {
    names(value("prefix"));
  } catch (error) {
    throw new BusError("invalid-option", String(error instanceof Error ? error.message : error));
  }
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(value("env"))) {
    throw invalid("env", value("env"), "1 to 32 of [a-z0-9-], beginning with a letter");
  }
  const httpPort = value("http-port");
  return {
    natsUrl: value("nats-url"),
    prefix: value("prefix"),
    environment: value("env"),
    httpPort: httpPort === "" ? undefined : integer("http-port", httpPort, 0, 65_535),
    httpHost: value("http-host"),
    instance,
    replicas: integer("replicas", value("replicas"), 1, 5),
    failFast: given.failFast || environment.RINGWALL_FAIL_FAST === "true",
    credsFile: file("nats-creds"),
    tls: {
      ...(caFile === undefined ? {} : { caFile }),
      ...(certFile === undefined ? {} : { certFile }),
      ...(keyFile === undefined ? {} : { keyFile }),
    },
    inboxPrefix: file("nats-inbox-prefix"),
    monitorUrl: file("nats-monitor-url"),
    own: Object.fromEntries(own.map((each) => [each.key, value(kebab(each.key))])),
    processEnvironment: environment,
  };
}

/** The text of `--help` for a service. */
export function optionsHelp(service: string, own: readonly OwnOption[] = []): string {
  const lines = [...COMMON, ...own].map(
    ({ key, variable, default: fallback, help }) =>
      `  --${kebab(key).padEnd(22)} ${help}${fallback === "" ? "" : ` (default ${fallback})`} [${variable}]`,
  );
  return [
    `usage: ${service} [options]`,
    ...lines,
    "  --fail-fast              end when NATS is not reachable at start [RINGWALL_FAIL_FAST=true]",
    "  --help                   show this",
    "",
  ].join("\n");
}

function parse(
  argv: readonly string[],
  options: readonly OwnOption[],
): { values: Record<string, string | undefined>; failFast: boolean } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        ...Object.fromEntries(options.map(({ key }) => [key, { type: "string" as const }])),
        "fail-fast": { type: "boolean" as const },
      },
      strict: true,
      allowPositionals: false,
    });
    const texts = Object.entries(values).flatMap(([key, each]) =>
      typeof each === "string" ? [[key, each] as const] : [],
    );
    return { values: Object.fromEntries(texts), failFast: values["fail-fast"] === true };
  } catch (error) {
    throw new BusError("invalid-option", error instanceof Error ? error.message : String(error));
  }
}

function integer(key: string, text: string, least: number, most: number): number {
  const value = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw invalid(key, text, `a whole number from ${least} to ${most}`);
  }
  return value;
}

function invalid(key: string, value: string, allowed: string): BusError {
  return new BusError("invalid-option", `--${key} is "${value}"; it must be ${allowed}`);
}

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
