import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Message } from "@ringwall/actor";
import type { Outbox } from "./outbox.ts";

/** A core message on a listener. */
export type Delivery = Extract<Message, { kind: "delivery" }>;

/** Answers a request; a message without a reply subject gets none. */
export function reply<Schema extends DescMessage>(
  out: Outbox,
  to: string | undefined,
  schema: Schema,
  message: MessageInitShape<Schema>,
): void {
  if (to !== undefined) {
    out.push({ kind: "reply", to, payload: toBinary(schema, create(schema, message)) });
  }
}

/** Reads a request; undefined if the bytes are no such message. */
export function readRequest<Schema extends DescMessage>(
  schema: Schema,
  payload: Uint8Array,
): MessageShape<Schema> | undefined {
  try {
    return fromBinary(schema, payload);
  } catch {
    return undefined;
  }
}

/** The error of a request that is no message of its kind. */
export function unreadable(schema: DescMessage): { code: string; message: string } {
  return { code: "invalid", message: `the request is no ${schema.typeName}` };
}
