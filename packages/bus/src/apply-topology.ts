import { JetStreamApiError, type StreamInfo } from "@nats-io/jetstream";
import type { Bus } from "./connect.ts";
import { BusError, isStreamNotFound } from "./errors.ts";
import { PARTITIONS } from "./names.ts";
import { STREAMS, type StreamSettings, streamSettings } from "./topology.ts";

/** One difference between the wanted and the present topology. */
export type TopologyChange =
  | { readonly kind: "create"; readonly stream: string }
  | {
      readonly kind: "update";
      readonly stream: string;
      readonly setting: string;
      readonly is: unknown;
      readonly wanted: unknown;
      /** False if the server can't change it on a stream that exists. */
      readonly possible: boolean;
    };

/** Options of topology operations. */
export interface TopologyOptions {
  /** Replicas of every stream; default 1. */
  readonly replicas?: number;
}

// The server refuses to change these on an existing stream.
const FIXED: ReadonlySet<string> = new Set(["storage", "retention", "persist_mode"]);
// Settings where only one direction is possible: the value that can't be left.
const ONE_WAY: ReadonlyMap<string, unknown> = new Map([
  ["deny_delete", true],
  ["deny_purge", true],
  ["allow_msg_ttl", true],
]);

/**
 * Creates the streams and buckets that are missing and returns how the others differ from what is
 * wanted; those are left as they are. Throws BusError `partitions-mismatch` when a stream was made
 * for another number of partitions, and `topology` when the server refuses.
 */
export async function ensureTopology(
  bus: Bus,
  options: TopologyOptions = {},
): Promise<TopologyChange[]> {
  const differences: TopologyChange[] = [];
  for (const [settings, info] of await present(bus, options)) {
    if (info === undefined) {
      await create(bus, settings);
    } else {
      differences.push(...differencesOf(settings, info));
    }
  }
  // Replicas are the operator's choice and no fault; CONTENT's persist mode follows from them.
  return differences.filter(
    (change) =>
      change.kind !== "update" || !["num_replicas", "persist_mode"].includes(change.setting),
  );
}

/** What `applyTopology` would do. Throws BusError `partitions-mismatch`. */
export async function diffTopology(
  bus: Bus,
  options: TopologyOptions = {},
): Promise<TopologyChange[]> {
  return (await present(bus, options)).flatMap(([settings, info]) =>
    info === undefined
      ? [{ kind: "create" as const, stream: settings.name }]
      : differencesOf(settings, info),
  );
}

/**
 * Creates what is missing and changes what differs. A difference that the server can't change is
 * left and returned with the others, marked `possible: false`.
 */
export async function applyTopology(
  bus: Bus,
  options: TopologyOptions = {},
): Promise<TopologyChange[]> {
  const changes: TopologyChange[] = [];
  for (const [settings, info] of await present(bus, options)) {
    if (info === undefined) {
      await create(bus, settings);
      changes.push({ kind: "create", stream: settings.name });
      continue;
    }
    const differences = differencesOf(settings, info);
    changes.push(...differences);
    const possible = differences.flatMap((each) =>
      each.kind === "update" && each.possible ? [[each.setting, each.wanted] as const] : [],
    );
    if (possible.length > 0) {
      const update = { ...info.config, ...Object.fromEntries(possible) };
      await bus.jsm.streams
        .update(settings.name, {
          ...update,
          metadata: { ...info.config.metadata, ...settings.metadata },
        })
        .catch((error: unknown) => {
          throw refused("change", settings.name, error);
        });
    }
  }
  return changes;
}

/** Deletes every stream and bucket of the prefix. For tests and `ringwall dev --fresh` only. */
export async function deleteTopology(bus: Bus): Promise<void> {
  for (const stream of STREAMS) {
    await bus.jsm.streams.delete(bus.names.stream(stream)).catch((error: unknown) => {
      if (!isStreamNotFound(error)) {
        throw error;
      }
    });
  }
}

async function present(
  bus: Bus,
  options: TopologyOptions,
): Promise<(readonly [StreamSettings, StreamInfo | undefined])[]> {
  const wanted = streamSettings(bus.names, options.replicas ?? 1);
  return Promise.all(
    [...wanted].map(async ([, settings]) => [settings, await infoOf(bus, settings.name)] as const),
  );
}

async function infoOf(bus: Bus, name: string): Promise<StreamInfo | undefined> {
  try {
    const info = await bus.jsm.streams.info(name);
    const partitions = info.config.metadata?.["ringwall.partitions"];
    if (partitions !== String(PARTITIONS)) {
      throw new BusError(
        "partitions-mismatch",
        `stream ${name} has ${partitions ?? "no number of"} partitions, this build has ` +
          `${PARTITIONS}; use a build with the same number or another prefix`,
      );
    }
    return info;
  } catch (error) {
    if (isStreamNotFound(error)) {
      return undefined;
    }
    throw error;
  }
}

async function create(bus: Bus, settings: StreamSettings): Promise<void> {
  try {
    await bus.jsm.streams.add(settings);
  } catch (error) {
    // Another service may have created it meanwhile, with other replicas.
    if ((await infoOf(bus, settings.name)) === undefined) {
      throw refused("create", settings.name, error);
    }
  }
}

function differencesOf(settings: StreamSettings, info: StreamInfo): TopologyChange[] {
  const actual: Readonly<Record<string, unknown>> = info.config;
  const changes: TopologyChange[] = [];
  const compare = (setting: string, is: unknown, wanted: unknown) => {
    if (!equal(is, wanted)) {
      const possible =
        !FIXED.has(setting) && !(ONE_WAY.has(setting) && ONE_WAY.get(setting) === is);
      changes.push({ kind: "update", stream: settings.name, setting, is, wanted, possible });
    }
  };
  for (const [setting, wanted] of Object.entries(settings)) {
    if (setting !== "metadata") {
      compare(setting, actual[setting] ?? defaultOf(wanted), wanted);
    }
  }
  if (settings.persist_mode === undefined && actual.persist_mode === "async") {
    compare("persist_mode", "async", "default");
  }
  return changes;
}

// The server leaves out what has its zero value.
function defaultOf(wanted: unknown): unknown {
  switch (typeof wanted) {
    case "boolean":
      return false;
    case "number":
      return 0;
    default:
      return undefined;
  }
}

function equal(a: unknown, b: unknown): boolean {
  return Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((each, i) => each === b[i])
    : a === b;
}

function refused(what: string, name: string, error: unknown): BusError {
  const words =
    error instanceof JetStreamApiError
      ? `${error.message} (${error.code})`
      : error instanceof Error
        ? error.message
        : String(error);
  return new BusError("topology", `the server refused to ${what} stream ${name}: ${words}`, error);
}
