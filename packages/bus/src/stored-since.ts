import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { StoredRecord } from "@ringwall/actor";
import type { Bus } from "./connect.ts";
import { fromWire } from "./driver/headers.ts";
import { readAt } from "./driver/read.ts";
import { BusError, isDenied, isStreamNotFound } from "./errors.ts";
import type { StreamName } from "./topology.ts";

/** What is read of a stream. */
export interface StoredSince {
  readonly stream: StreamName;
  /** Subjects, wildcards allowed. */
  readonly filters: readonly string[];
  /** Only what was stored at or after this time. */
  readonly sinceUnixMs: number;
}

/** Longest wait for the next record before it counts as lost. */
const EXPIRES_MS = 5000;

/**
 * Reads what a stream holds from a time on, in order, up to what was stored when it began. Throws
 * BusError `denied`, or `closed` when the stream can't be read to its end.
 */
export async function* storedSince(
  bus: Bus,
  { stream, filters, sinceUnixMs }: StoredSince,
): AsyncGenerator<StoredRecord, void, void> {
  try {
    const consumer = await jetstream(bus.nc).consumers.get(bus.names.stream(stream), {
      filter_subjects: [...filters],
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: new Date(sinceUnixMs).toISOString(),
    });
    let left = (await consumer.info()).num_pending;
    while (left > 0) {
      const messages = await consumer.fetch({
        max_messages: Math.min(left, 500),
        expires: EXPIRES_MS,
      });
      let came = 0;
      for await (const message of messages) {
        came += 1;
        yield {
          subject: message.subject,
          sequence: message.seq,
          payload: message.data,
          headers: fromWire(message.headers),
          timeUnixMs: Number(message.timestampNanos / 1_000_000n),
        };
      }
      if (came === 0) {
        throw new BusError("closed", `${stream} could not be read to its end: ${left} are missing`);
      }
      left -= came;
    }
  } catch (error) {
    throw storedError(stream, error);
  }
}

/** Reads one record from the stream's leader; undefined if it is not there. */
export async function readStored(
  bus: Bus,
  stream: StreamName,
  sequence: number,
): Promise<StoredRecord | undefined> {
  const outcome = await readAt(bus, stream, sequence, "");
  if (!outcome.ok) {
    throw new BusError(outcome.code === "denied" ? "denied" : "closed", outcome.detail);
  }
  return outcome.message?.kind === "read" ? outcome.message.record : undefined;
}

function storedError(stream: StreamName, error: unknown): Error {
  if (error instanceof BusError) {
    return error;
  }
  if (isDenied(error)) {
    return new BusError("denied", `no permission to read ${stream}`, error);
  }
  const reason = isStreamNotFound(error)
    ? "it does not exist"
    : error instanceof Error
      ? error.message
      : String(error);
  return new BusError("closed", `${stream} could not be read: ${reason}`, error);
}
