import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { NoRespondersError, RequestError, TimeoutError } from "@nats-io/nats-core";
import type { Bus } from "./connect.ts";
import { HEADER, toWire } from "./driver/headers.ts";
import { BusError, isDenied } from "./errors.ts";

const TIMEOUT_MS = 5000;

/** Options of one call. */
export interface CallOptions {
  /** Partition that the operation is addressed to, where it has one. */
  readonly partition?: number;
  /** How long to wait for the answer; default 5000. */
  readonly timeoutMs?: number;
  /** Traceparent that the operation continues. */
  readonly trace?: string;
}

/** Calls operations of the services. */
export interface Api {
  /**
   * Sends a request to `<prefix>.api.<noun>.<verb>[.<partition>]` and returns the answer. Throws
   * BusError: `no-responders` (nobody serves it), `timeout`, `denied`, `closed`.
   */
  call<Request extends DescMessage, Response extends DescMessage>(
    noun: string,
    verb: string,
    requestSchema: Request,
    responseSchema: Response,
    request: MessageInitShape<Request>,
    options?: CallOptions,
  ): Promise<MessageShape<Response>>;
  /** Like `call`, but collects the answer of every instance that gives one within the time. */
  callAll<Request extends DescMessage, Response extends DescMessage>(
    noun: string,
    verb: string,
    requestSchema: Request,
    responseSchema: Response,
    request: MessageInitShape<Request>,
    options?: CallOptions,
  ): Promise<MessageShape<Response>[]>;
}

/** The operations of the services behind a connection. */
export function api(bus: Bus): Api {
  return {
    async call(noun, verb, requestSchema, responseSchema, request, options = {}) {
      const subject = bus.names.api(noun, verb, options.partition);
      const payload = toBinary(requestSchema, create(requestSchema, request));
      const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
      const headers = toWire(
        options.trace === undefined ? undefined : { [HEADER.trace]: options.trace },
      );
      try {
        const answer = await bus.nc.request(subject, payload, {
          timeout: timeoutMs,
          ...(headers === undefined ? {} : { headers }),
        });
        return fromBinary(responseSchema, answer.data);
      } catch (error) {
        throw callError(subject, timeoutMs, error);
      }
    },
    async callAll(noun, verb, requestSchema, responseSchema, request, options = {}) {
      const subject = bus.names.api(noun, verb, options.partition);
      const payload = toBinary(requestSchema, create(requestSchema, request));
      const maxWait = options.timeoutMs ?? 1000;
      const answers: MessageShape<typeof responseSchema>[] = [];
      try {
        const messages = await bus.nc.requestMany(subject, payload, {
          strategy: "stall",
          stall: Math.min(300, maxWait),
          maxWait,
        });
        for await (const message of messages) {
          answers.push(fromBinary(responseSchema, message.data));
        }
      } catch (error) {
        throw callError(subject, maxWait, error);
      }
      return answers;
    },
  };
}

function callError(subject: string, timeoutMs: number, error: unknown): BusError {
  if (isDenied(error)) {
    return new BusError("denied", `no permission to call ${subject}`, error);
  }
  // A single request wraps it, a request for many answers does not.
  if (
    error instanceof NoRespondersError ||
    (error instanceof RequestError && error.isNoResponders())
  ) {
    return new BusError("no-responders", `no running service answers ${subject}`, error);
  }
  if (error instanceof TimeoutError) {
    return new BusError("timeout", `${subject} was not answered within ${timeoutMs} ms`, error);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new BusError("closed", `${subject} could not be called: ${reason}`, error);
}
