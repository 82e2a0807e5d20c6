import {
  type AppendEffect,
  failure,
  type Headers,
  type Outcome,
  type StoredRecord,
} from "@ringwall/actor";
import { HEADER, type Names } from "@ringwall/bus";
import type { CoreHost, SimCore } from "./core.ts";
import type { SimStream } from "./stream.ts";

const LATENCY_MS = 0.2;
const JITTER_MS = 0.8;
/** As long as the driver on NATS waits for an acknowledgement and goes on trying. */
const ATTEMPT_MS = 5000;
const RESOLVE_MS = 30_000;
const PAUSE_MS = 200;

/** What the drivers of a simulation share. */
export interface DriverHost extends CoreHost {
  readonly names: Names;
  readonly core: SimCore;
  readonly maxPayload: number;
  stream(logical: string): SimStream;
  wallMs(): number;
  /** A subject for the answer to one request. */
  inbox(): string;
  /** Something was stored: readers look again, and a time to live begins to run. */
  stored(stream: SimStream, sequence: number, ttlMs: number | undefined): void;
}

/**
 * Appends in the same steps as the driver on NATS: an attempt whose answer is lost is repeated, and
 * when the fence then refuses, the subject's last message says whose write it holds.
 */
export class SimAppender {
  readonly #host: DriverHost;
  readonly #name: string;
  readonly #link: () => "connected" | "away" | "dead";
  #arrivalMs = 0;

  constructor(host: DriverHost, name: string, link: () => "connected" | "away" | "dead") {
    this.#host = host;
    this.#name = name;
    this.#link = link;
  }

  append(effect: AppendEffect, done: (outcome: Outcome) => void): void {
    const stream = this.#host.stream(effect.stream);
    if (!stream.takes(effect.subject)) {
      const words = `appends ${effect.subject}, which ${effect.stream} does not take`;
      throw new Error(`${this.#name} ${words}`);
    }
    if (effect.expect !== undefined && effect.write === undefined) {
      throw new Error(`${this.#name} appends ${effect.subject} under a fence without a write id`);
    }
    this.#attempt(effect, stream, this.#host.schedule.nowMs + RESOLVE_MS, done);
  }

  #attempt(
    effect: AppendEffect,
    stream: SimStream,
    untilMs: number,
    done: (outcome: Outcome) => void,
  ): void {
    const { faults, schedule } = this.#host;
    const again = (waitMs: number) => {
      schedule.after(waitMs, () => {
        if (this.#link() === "dead") {
          return;
        }
        if (schedule.nowMs >= untilMs) {
          done(failure("unavailable", `append to ${effect.subject} was not acknowledged`));
        } else {
          this.#attempt(effect, stream, untilMs, done);
        }
      });
    };
    if (this.#link() !== "connected") {
      again(PAUSE_MS);
      return;
    }
    if (chance(this.#host, faults.loseAppend)) {
      again(ATTEMPT_MS);
      return;
    }
    // What one connection sends arrives in the order in which it was sent.
    this.#arrivalMs = Math.max(schedule.nowMs + latencyMs(this.#host), this.#arrivalMs);
    schedule.after(this.#arrivalMs - schedule.nowMs, () => {
      const answer = this.#store(effect, stream);
      if (chance(this.#host, faults.loseAck) || this.#link() !== "connected") {
        again(ATTEMPT_MS);
      } else if (answer.kind === "stored") {
        this.#later(() => done(appended(effect, answer.sequence)));
      } else {
        this.#later(() => this.#resolveFence(effect, stream, answer.last, done));
      }
    });
  }

  #store(effect: AppendEffect, stream: SimStream) {
    const { expect, write } = effect;
    const headers = {
      ...headersOf(effect),
      ...(write === undefined ? {} : { [HEADER.write]: write }),
    };
    const answer = stream.append(
      effect.subject,
      effect.payload.slice(),
      headers,
      this.#host.wallMs(),
      expect === undefined
        ? undefined
        : { sequence: expect.sequence, filter: expect.filter ?? effect.subject },
    );
    if (answer.kind === "stored") {
      this.#host.stored(stream, answer.sequence, answer.ttlMs);
    }
    return answer;
  }

  #resolveFence(
    effect: AppendEffect,
    stream: SimStream,
    last: number,
    done: (outcome: Outcome) => void,
  ): void {
    const record = lastRecord(this.#host, stream, effect.subject);
    const mine =
      record !== undefined &&
      record.headers[HEADER.write] === effect.write &&
      record.sequence > (effect.expect?.sequence ?? 0);
    this.#later(() =>
      done(
        mine
          ? appended(effect, record.sequence)
          : failure("fence-lost", `${effect.subject}: wrong last sequence: ${last}`),
      ),
    );
  }

  #later(call: () => void): void {
    this.#host.schedule.after(latencyMs(this.#host), call);
  }
}

/** True with the given likelihood; draws no number when it is 0. */
export function chance(host: CoreHost, likelihood: number): boolean {
  return likelihood > 0 && host.random() < likelihood;
}

/** Time on the wire. */
export function latencyMs(host: CoreHost): number {
  return LATENCY_MS + host.random() * JITTER_MS;
}

/** A subject's last message, or the one before it when the read is stale. */
export function lastRecord(
  host: CoreHost,
  stream: SimStream,
  subject: string,
): StoredRecord | undefined {
  return chance(host, host.faults.staleRead) ? stream.staleLast(subject) : stream.last(subject);
}

/** The headers that an effect's message carries. */
export function headersOf(effect: {
  readonly headers?: Headers;
  readonly trace?: string;
}): Headers {
  return {
    ...effect.headers,
    ...(effect.trace === undefined ? {} : { [HEADER.trace]: effect.trace }),
  };
}

function appended(effect: AppendEffect, sequence: number): Outcome {
  return { ok: true, message: { kind: "appended", tag: effect.tag, sequence } };
}
