import { type MsgHdrs, TimeoutError } from "@nats-io/nats-core";
import { type AppendEffect, failure, type Outcome } from "@ringwall/actor";
import type { Bus } from "../connect.ts";
import { isDenied } from "../errors.ts";
import { HEADER, toWire } from "./headers.ts";
import { readLast } from "./read.ts";

/** How long one attempt waits for the stream's acknowledgement. */
const ATTEMPT_MS = 5000;
/** How long attempts are repeated before the append fails with `unavailable`. */
const RESOLVE_MS = 30_000;
const PAUSE_MS = 200;

const WRONG_LAST_SEQUENCE = new Set([10071, 10164]);
const MESSAGE_TOO_LARGE = new Set([10054]);
// Out of room or refused by the stream's settings: another attempt would end the same.
const FULL = new Set([10047, 10076, 10077, 10122]);

interface PubAck {
  readonly seq?: number;
  readonly error?: {
    readonly code: number;
    readonly err_code?: number;
    readonly description: string;
  };
}

type Attempt =
  | { readonly kind: "stored"; readonly sequence: number }
  | { readonly kind: "fence"; readonly detail: string }
  | { readonly kind: "again"; readonly detail: string }
  | { readonly kind: "failed"; readonly outcome: Outcome };

/**
 * Stores one message. An attempt whose answer is lost may have been stored: it is repeated with the
 * same fence and write id, and when the fence then refuses, the subject's last message on the
 * stream's leader says whose write it holds. Without a fence a repeat may store twice.
 */
export async function append(
  bus: Bus,
  effect: AppendEffect,
  monotonicMs: () => number,
): Promise<Outcome> {
  const wire = appendHeaders(bus, effect);
  const tooLarge = sizeProblem(bus, effect, wire);
  if (tooLarge !== undefined) {
    return tooLarge;
  }
  const until = monotonicMs() + RESOLVE_MS;
  for (;;) {
    const attempt = await attemptOnce(bus, effect, wire);
    switch (attempt.kind) {
      case "stored":
        return appended(effect, attempt.sequence);
      case "failed":
        return attempt.outcome;
      case "fence": {
        const resolved = await resolveFence(bus, effect, attempt.detail);
        if (resolved !== undefined) {
          return resolved;
        }
        break;
      }
      case "again":
        break;
      default:
        attempt satisfies never;
    }
    const leftMs = until - monotonicMs();
    if (leftMs <= 0) {
      const detail = "detail" in attempt ? attempt.detail : "";
      return failure("unavailable", `append to ${effect.subject}: ${detail}`);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    await bus.whenConnected(leftMs);
  }
}

function appendHeaders(bus: Bus, effect: AppendEffect): MsgHdrs | undefined {
  const { expect, write, trace } = effect;
  return toWire(
    effect.headers,
    { [HEADER.expectStream]: bus.names.stream(effect.stream) },
    write === undefined ? undefined : { [HEADER.write]: write },
    trace === undefined ? undefined : { [HEADER.trace]: trace },
    expect === undefined ? undefined : { [HEADER.expectSequence]: String(expect.sequence) },
    expect?.filter === undefined ? undefined : { [HEADER.expectFilter]: expect.filter },
  );
}

function sizeProblem(
  bus: Bus,
  effect: AppendEffect,
  wire: MsgHdrs | undefined,
): Outcome | undefined {
  const limit = bus.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  const size = effect.payload.length + (wire === undefined ? 0 : String(wire).length);
  return size <= limit
    ? undefined
    : failure("too-large", `message for ${effect.subject} has ${size} bytes, ${limit} are allowed`);
}

async function attemptOnce(
  bus: Bus,
  effect: AppendEffect,
  wire: MsgHdrs | undefined,
): Promise<Attempt> {
  if (!bus.connected) {
    return { kind: "again", detail: "NATS is not reachable" };
  }
  let ack: PubAck;
  // A reconnect means that the answer is lost; there is no use in waiting for it.
  const lost = Promise.withResolvers<undefined>();
  const takeBack = bus.onReconnect(() => lost.resolve(undefined));
  try {
    const request = bus.nc.request(effect.subject, effect.payload, {
      timeout: ATTEMPT_MS,
      ...(wire === undefined ? {} : { headers: wire }),
    });
    const answer = await Promise.race([request, lost.promise]);
    if (answer === undefined) {
      request.catch(() => undefined);
      return { kind: "again", detail: "the connection was lost before the answer" };
    }
    ack = answer.json<PubAck>();
  } catch (error) {
    return classifyLost(error);
  } finally {
    takeBack();
  }
  if (ack.error === undefined && ack.seq !== undefined) {
    return { kind: "stored", sequence: ack.seq };
  }
  const code = ack.error?.err_code ?? 0;
  const detail = `${ack.error?.description ?? "no sequence in the answer"} (${code})`;
  if (WRONG_LAST_SEQUENCE.has(code)) {
    return { kind: "fence", detail };
  }
  if (MESSAGE_TOO_LARGE.has(code)) {
    return { kind: "failed", outcome: failure("too-large", detail) };
  }
  if (FULL.has(code)) {
    return { kind: "failed", outcome: failure("unavailable", detail) };
  }
  return ack.error?.code === 503
    ? { kind: "again", detail }
    : { kind: "failed", outcome: failure("unavailable", detail) };
}

function classifyLost(error: unknown): Attempt {
  const detail = error instanceof Error ? error.message : String(error);
  if (isDenied(error)) {
    return { kind: "failed", outcome: failure("denied", detail) };
  }
  if (error instanceof TimeoutError) {
    return { kind: "again", detail: `no acknowledgement within ${ATTEMPT_MS} ms` };
  }
  // No responders, a lost connection: the stream may come back within the deadline.
  return { kind: "again", detail };
}

async function resolveFence(
  bus: Bus,
  effect: AppendEffect,
  detail: string,
): Promise<Outcome | undefined> {
  const last = await readLast(bus, effect.stream, effect.subject);
  if (last.ok && last.message?.kind === "read") {
    const { record } = last.message;
    // A write of a former life of the same instance may carry the same id, but lies before the fence.
    const mine =
      record !== undefined &&
      effect.write !== undefined &&
      record.headers[HEADER.write] === effect.write &&
      record.sequence > (effect.expect?.sequence ?? 0);
    return mine
      ? appended(effect, record.sequence)
      : failure("fence-lost", `${effect.subject}: ${detail}`);
  }
  return undefined;
}

function appended(effect: AppendEffect, sequence: number): Outcome {
  return { ok: true, message: { kind: "appended", tag: effect.tag, sequence } };
}
