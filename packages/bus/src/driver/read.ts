import { JetStreamApiError, type StoredMsg } from "@nats-io/jetstream";
import { failure, type Outcome, type StoredRecord } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import { isDenied, isStreamNotFound } from "../errors.ts";
import { fromWire } from "./headers.ts";

const ATTEMPTS = 3;
const PAUSE_MS = 200;
const CONNECT_MS = 5000;

/** The present state of a stream. */
export interface StreamState {
  readonly createdUnixNs: bigint;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** Reads the last message of a subject from the stream's leader; answers `read` with tag "". */
export function readLast(bus: Bus, stream: string, subject: string, tag = ""): Promise<Outcome> {
  return attempt(bus, async () => {
    const message = await bus.jsm.streams.getMessage(bus.names.stream(stream), {
      last_by_subj: subject,
    });
    return { kind: "read", tag, record: message === null ? undefined : toRecord(message) };
  });
}

/** Reads the message at one sequence from the stream's leader. */
export function readAt(bus: Bus, stream: string, seq: number, tag: string): Promise<Outcome> {
  return attempt(bus, async () => {
    const message = await bus.jsm.streams.getMessage(bus.names.stream(stream), { seq });
    return { kind: "read", tag, record: message === null ? undefined : toRecord(message) };
  });
}

/** Reads a stream's creation time and sequences. */
export function readStreamInfo(bus: Bus, stream: string, tag: string): Promise<Outcome> {
  return attempt(bus, async () => ({
    kind: "stream-info",
    tag,
    ...(await streamState(bus, bus.names.stream(stream))),
  }));
}

/** State of a stream by its full name; throws what the client library throws. */
export async function streamState(bus: Bus, fullName: string): Promise<StreamState> {
  const info = await bus.jsm.streams.info(fullName);
  return {
    createdUnixNs: unixNs(info.created),
    // A stream that never held anything says 0.
    firstSequence: Math.max(1, info.state.first_seq),
    lastSequence: info.state.last_seq,
  };
}

/** Unix nanoseconds of an RFC 3339 time with up to nine fractional digits. */
export function unixNs(text: string): bigint {
  const match = /^(.*T[0-9:]+)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const seconds = Date.parse(`${match?.[1]}${match?.[3]}`);
  if (match === null || Number.isNaN(seconds)) {
    throw new RangeError(`"${text}" is not an RFC 3339 time`);
  }
  return BigInt(seconds) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** Turns an error of the client library into a failed outcome. */
export function failureOf(error: unknown): Outcome {
  const detail = error instanceof Error ? error.message : String(error);
  if (isDenied(error)) {
    return failure("denied", detail);
  }
  if (isStreamNotFound(error)) {
    return failure("not-found", detail);
  }
  return failure("unavailable", detail);
}

async function attempt(
  bus: Bus,
  read: () => Promise<NonNullable<Extract<Outcome, { ok: true }>["message"]>>,
): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    await bus.whenConnected(CONNECT_MS);
    // A reconnect means that the answer is lost; there is no use in waiting for it.
    const lost = Promise.withResolvers<never>();
    const takeBack = bus.onReconnect(() => lost.reject(new Error("the connection was lost")));
    try {
      return { ok: true, message: await Promise.race([read(), lost.promise]) };
    } catch (error) {
      const outcome = failureOf(error);
      // An answer of the server is final; a lost one is asked for again.
      if (error instanceof JetStreamApiError || tries === ATTEMPTS) {
        return outcome;
      }
      if (!outcome.ok && outcome.code === "denied") {
        return outcome;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
    } finally {
      takeBack();
    }
  }
}

function toRecord(message: StoredMsg): StoredRecord {
  return {
    subject: message.subject,
    sequence: message.seq,
    payload: message.data,
    headers: fromWire(message.header),
    timeUnixMs: message.time.getTime(),
  };
}
