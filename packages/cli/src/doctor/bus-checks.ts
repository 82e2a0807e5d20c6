import { type Bus, diffTopology, STREAMS, syncWarning } from "@ringwall/bus/client";
import { messageOf } from "../errors.ts";
import { type Check, fail, ok, warn } from "./check.ts";

const OLDEST_SERVER: readonly [number, number] = [2, 12];
const LEAST_PAYLOAD_BYTES = 1024 * 1024;
const SLOW_MS = 50;
const SKEW_WARN_MS = 500;
const SKEW_FAIL_MS = 5000;

/** What the bus must be: server, limits, clock, durability, streams. */
export async function busChecks(
  bus: Bus,
  monitorUrl: string | undefined,
): Promise<readonly Check[]> {
  return [
    server(bus),
    payload(bus),
    await distance(bus),
    await clock(bus),
    await durability(monitorUrl),
    ...(await topology(bus)),
  ];
}

function server(bus: Bus): Check {
  const version = bus.nc.info?.version ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  const old = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return old
    ? fail("nats-server", version, `update it to ${OLDEST_SERVER.join(".")} or newer`)
    : ok("nats-server", `${version} at ${bus.nc.getServer()}`);
}

function payload(bus: Bus): Check {
  const bytes = bus.nc.info?.max_payload ?? 0;
  return bytes >= LEAST_PAYLOAD_BYTES
    ? ok("max_payload", `${bytes} bytes`)
    : fail("max_payload", `${bytes} bytes`, `set it to ${LEAST_PAYLOAD_BYTES} or more`);
}

async function distance(bus: Bus): Promise<Check> {
  const rttMs = Math.min(await bus.nc.rtt(), await bus.nc.rtt());
  const found = `${rttMs.toFixed(1)} ms there and back`;
  return rttMs > SLOW_MS
    ? warn("distance to NATS", found, "each change crosses the bus five times; run services closer")
    : ok("distance to NATS", found);
}

/** JetStream's answers carry the server's time: half a round trip ago. */
async function clock(bus: Bus): Promise<Check> {
  const subject = "clock";
  try {
    const askedMs = Date.now();
    const answer = await bus.nc.request(
      `$JS.API.STREAM.INFO.${bus.names.stream("CONFIG")}`,
      undefined,
      { timeout: 3000 },
    );
    const answeredMs = Date.now();
    const serverMs = Date.parse(timeIn(answer.json()) ?? "");
    if (Number.isNaN(serverMs)) return ok(subject, "the server does not tell its time");
    const skewMs = Math.abs(serverMs - (askedMs + answeredMs) / 2);
    const found = `${Math.round(skewMs)} ms from the server's`;
    if (skewMs < SKEW_WARN_MS) return ok(subject, found);
    const todo =
      "synchronise both with NTP: times of traces and convergence are wrong by that much";
    return skewMs < SKEW_FAIL_MS ? warn(subject, found, todo) : fail(subject, found, todo);
  } catch (error) {
    return warn(subject, messageOf(error), "it could not be compared with the server's");
  }
}

function timeIn(answer: unknown): string | undefined {
  const known = typeof answer === "object" && answer !== null && "ts" in answer;
  return known && typeof answer.ts === "string" ? answer.ts : undefined;
}

async function durability(monitorUrl: string | undefined): Promise<Check> {
  const subject = "durability";
  if (monitorUrl === undefined || monitorUrl === "") {
    const todo = "set RINGWALL_NATS_MONITOR_URL to check that nats-server syncs every write";
    return warn(subject, "not checked", todo);
  }
  const warning = await syncWarning(monitorUrl);
  return warning === undefined
    ? ok(subject, "every write is synced")
    : warn(subject, warning, "set sync_interval: always in the server's jetstream block");
}

async function topology(bus: Bus): Promise<readonly Check[]> {
  const subject = "streams";
  try {
    const replicas = await replicasOf(bus);
    const changes = await diffTopology(bus, { replicas });
    const missing = changes.flatMap((change) => (change.kind === "create" ? [change.stream] : []));
    const different = changes.flatMap((change) =>
      change.kind === "update" ? [`${change.stream} ${change.setting}`] : [],
    );
    if (missing.length > 0) {
      return [fail(subject, `missing: ${missing.join(", ")}`, "ringwall topology apply")];
    }
    const copies = replicas === 1 ? "1 replica" : `${replicas} replicas`;
    return [
      different.length === 0
        ? ok(subject, `${STREAMS.length} streams and buckets, ${copies}`)
        : warn(subject, different.join(", "), `ringwall topology diff --replicas ${replicas}`),
    ];
  } catch (error) {
    return [fail(subject, messageOf(error), "give this user the rights of an operator")];
  }
}

/** Replicas are the operator's choice: what CONFIG has is taken as wanted. */
async function replicasOf(bus: Bus): Promise<number> {
  try {
    const info = await bus.jsm.streams.info(bus.names.stream("CONFIG"));
    return info.config.num_replicas;
  } catch {
    return 1;
  }
}
