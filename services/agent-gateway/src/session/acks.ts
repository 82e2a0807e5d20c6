import type { Moment } from "@ringwall/actor";
import { AckStatus, type Heartbeat } from "@ringwall/wire";
import { DEAD_INTERVALS, PARKED_KEPT } from "../limits.ts";
import type { Outbox } from "../outbox.ts";
import type { Ack } from "../wire/ack-bytes.ts";
import { toHex } from "../wire/hex.ts";
import type { Deliveries } from "./deliveries.ts";
import {
  type Flight,
  isSame,
  NO_FLIGHTS,
  type Point,
  type Session,
  withDigest,
  withoutDigest,
} from "./session.ts";
import type { Transfers } from "./transfers.ts";

/** Wait before the second repair in a row, doubled for each further one. */
const REPAIR_MS = 1000;
const REPAIR_CAP_MS = 30_000;

/** Bodies without an outcome that are remembered: two windows. */
const DOUBTFUL_KEPT = 8;

/** What taking acknowledgements works with. */
export interface AckParts {
  readonly out: Outbox;
  readonly deliveries: Deliveries;
  readonly transfers: Transfers;
  readonly heartbeatMs: number;
}

/** Takes the outcome of a push. */
export function takeAck(parts: AckParts, session: Session, ack: Ack, moment: Moment): void {
  const { seq } = ack;
  const index = session.flights.findIndex((flight) => flight.seq === seq);
  switch (ack.status) {
    case AckStatus.APPLIED:
      if (index >= 0) {
        applied(parts, session, index, moment);
      } else {
        session.has = { epoch: BigInt(ack.epoch), version: ack.version, digest: ack.digest };
      }
      return;
    case AckStatus.REFUSED:
      parts.out.count("ringwall_refusals_total");
      refused(parts, session, ack.digest, session.flights[index]);
      session.words = ack.detail;
      if (seq >= session.baseline) {
        fallBack(parts, session, moment, seq);
      }
      return;
    case AckStatus.OUT_OF_STEP:
      if (seq >= session.baseline) {
        session.words = ack.detail;
        outOfStep(parts, session, moment, seq);
      }
      return;
    default:
      parts.out.count("ringwall_malformed_ups_total");
  }
}

/** Takes what an agent says that it has; an outcome that was lost on the way is made up for. */
export function takeHeartbeat(
  parts: AckParts,
  session: Session,
  heartbeat: Heartbeat,
  moment: Moment,
): void {
  session.driftCount = heartbeat.driftCount;
  const point = pointOf(heartbeat.epoch, heartbeat.version, heartbeat.digest);
  const taken = Number(heartbeat.lastSeq);
  const oldest = session.flights[0];
  if (oldest === undefined) {
    if (isSame(point, session.sent)) {
      return;
    }
    const ahead = point.epoch === session.sent.epoch && point.version > session.sent.version;
    session.has = point;
    session.sent = point;
    if (!ahead) {
      outOfStep(parts, session, moment);
    }
    return;
  }
  const index = session.flights.findLastIndex(
    (flight) => flight.seq <= taken && isSame(flight, point),
  );
  if (index >= 0) {
    applied(parts, session, index, moment);
    return;
  }
  const patienceMs = parts.heartbeatMs * DEAD_INTERVALS;
  if (oldest.seq <= taken && moment.monotonicMs - oldest.sentMs > patienceMs) {
    session.has = point;
    outOfStep(parts, session, moment);
  }
}

function applied(parts: AckParts, session: Session, index: number, moment: Moment): void {
  const flight = session.flights[index];
  if (flight === undefined) {
    return;
  }
  // Pushes are taken in order: those before it have an outcome that is lost.
  const before = session.flights.slice(0, index);
  parts.deliveries.dropped(session, before, moment);
  doubt(session, before);
  parts.deliveries.acked(session, flight, moment);
  const rest = session.flights.slice(index + 1);
  session.flights = rest.length === 0 ? NO_FLIGHTS : rest;
  session.has = { epoch: flight.epoch, version: flight.version, digest: flight.digest };
  session.ackedUnixMs = moment.wallMs;
  session.ackedMs = moment.monotonicMs;
  session.inputs = flight.inputs;
  session.misses = 0;
  session.retryAtMs = 0;
  session.words = "";
  session.parked = withoutDigest(session.parked, flight.digest);
  session.lastChance = withoutDigest(session.lastChance, flight.digest);
  session.doubtful = withoutDigest(session.doubtful, flight.digest);
  session.retried = withoutDigest(session.retried, flight.digest);
}

function doubt(session: Session, flights: readonly Flight[]): void {
  for (const { digest } of flights) {
    session.doubtful = withDigest(session.doubtful, digest, DOUBTFUL_KEPT);
  }
}

/** A body that was refused as a delta may be sent once more, whole; any other is parked. */
function refused(
  parts: AckParts,
  session: Session,
  digest: string,
  flight: Flight | undefined,
): void {
  if (digest === "" || session.parked.includes(digest)) {
    return;
  }
  if (flight?.kind === "delta") {
    session.lastChance = withDigest(session.lastChance, digest, PARKED_KEPT);
  } else {
    parts.out.count("ringwall_parked_total");
    session.lastChance = withoutDigest(session.lastChance, digest);
    session.parked = withDigest(session.parked, digest, PARKED_KEPT);
  }
}

/** Base, digest or sequence did not match: the head follows as a snapshot, at a slowing pace. */
function outOfStep(parts: AckParts, session: Session, moment: Moment, seq = 0): void {
  parts.out.count("ringwall_out_of_step_total");
  session.misses += 1;
  session.needsSnapshot = true;
  if (session.misses > 1) {
    const waitMs = Math.min(REPAIR_CAP_MS, REPAIR_MS * 2 ** Math.min(session.misses - 2, 10));
    session.retryAtMs = moment.monotonicMs + waitMs;
  }
  fallBack(parts, session, moment, seq);
}

/**
 * Nothing in flight counts any more: the next push starts from what the agent has. `seq` is the push
 * whose outcome is known, 0 if none is.
 */
function fallBack(parts: AckParts, session: Session, moment: Moment, seq: number): void {
  parts.transfers.cancel(session);
  parts.deliveries.dropped(session, session.flights, moment);
  doubt(
    session,
    session.flights.filter((flight) => flight.seq !== seq),
  );
  session.flights = NO_FLIGHTS;
  session.sent = session.has;
  session.baseline = session.seq + 1;
}

function pointOf(epoch: bigint, version: bigint, digest: Uint8Array): Point {
  return { epoch, version: Number(version), digest: digest.length === 32 ? toHex(digest) : "" };
}
