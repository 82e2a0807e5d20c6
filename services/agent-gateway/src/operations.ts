import {
  create,
  type DescMessage,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Effect, Message, Moment } from "@ringwall/actor";
import {
  ConvergenceRequestSchema,
  ConvergenceResponseSchema,
  ListStatusRequestSchema,
  ListStatusResponseSchema,
  WatchResponseSchema,
  WatchVersionsRequestSchema,
} from "@ringwall/wire";
import type { GatewayParts } from "./parts.ts";

type Delivered = Extract<Message, { kind: "delivery" }>;

const QUEUE = "gateway";

/** Operators' operations, by listener. */
const OPERATIONS = {
  "api.status.list": ["status", "list"],
  "api.status.convergence": ["status", "convergence"],
  "api.version.watch": ["version", "watch"],
} as const;

/** Listeners of the operations; any gateway answers. */
export function listenOperations(parts: GatewayParts): readonly Effect[] {
  return Object.entries(OPERATIONS).map(([listener, [noun, verb]]) => ({
    kind: "listen",
    listener,
    subject: parts.env.names.api(noun, verb),
    queue: QUEUE,
  }));
}

/** Answers an operator; false if the message is none of these operations. */
export function operate(parts: GatewayParts, message: Delivered, moment: Moment): boolean {
  if (!Object.hasOwn(OPERATIONS, message.listener)) {
    return false;
  }
  const { replyTo } = message;
  if (replyTo === undefined) {
    return true;
  }
  switch (message.listener) {
    case "api.status.list": {
      const request = read(ListStatusRequestSchema, message.payload);
      const response =
        request === undefined
          ? create(ListStatusResponseSchema, { error: UNREADABLE })
          : parts.queries.list(request, moment);
      reply(parts, replyTo, ListStatusResponseSchema, response);
      return true;
    }
    case "api.status.convergence": {
      const request = read(ConvergenceRequestSchema, message.payload);
      const response =
        request === undefined
          ? create(ConvergenceResponseSchema, { error: UNREADABLE })
          : parts.queries.convergence(request, moment);
      reply(parts, replyTo, ConvergenceResponseSchema, response);
      return true;
    }
    default: {
      const request = read(WatchVersionsRequestSchema, message.payload);
      if (request === undefined) {
        const response = create(WatchResponseSchema, { error: UNREADABLE });
        reply(parts, replyTo, WatchResponseSchema, response);
        return true;
      }
      const { server } = parts.events;
      const cursor = parts.events.cursor(request.ids);
      for (const effect of server.open(replyTo, request.inbox, cursor, moment)) {
        parts.out.add(effect);
      }
      return true;
    }
  }
}

const UNREADABLE = { code: "invalid", message: "the request can't be read" };

function read<Schema extends DescMessage>(
  schema: Schema,
  payload: Uint8Array,
): MessageShape<Schema> | undefined {
  try {
    return fromBinary(schema, payload);
  } catch {
    return undefined;
  }
}

function reply<Schema extends DescMessage>(
  parts: GatewayParts,
  to: string,
  schema: Schema,
  response: MessageShape<Schema>,
): void {
  parts.out.add({ kind: "reply", to, payload: toBinary(schema, response) });
}
