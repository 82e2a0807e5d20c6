import type { Message } from "./message.ts";

/**
 * First in, first out queue of messages that knows its size in messages and payload bytes. Taking
 * is O(1): the front moves through the array, which is cut when half of it is used up.
 */
export class Mailbox {
  #items: (Message | undefined)[] = [];
  #front = 0;
  #bytes = 0;

  /** Messages waiting. */
  get depth(): number {
    return this.#items.length - this.#front;
  }

  /** Payload bytes waiting. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a message at the end. */
  push(message: Message): void {
    this.#items.push(message);
    this.#bytes += payloadBytes(message);
  }

  /** Takes the oldest message. */
  take(): Message | undefined {
    const message = this.#items[this.#front];
    if (message === undefined) {
      return undefined;
    }
    this.#items[this.#front] = undefined;
    this.#front += 1;
    this.#bytes -= payloadBytes(message);
    if (this.#front === this.#items.length) {
      this.#items = [];
      this.#front = 0;
    } else if (this.#front > 1024 && this.#front * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#front);
      this.#front = 0;
    }
    return message;
  }
}

function payloadBytes(message: Message): number {
  switch (message.kind) {
    case "record":
      return message.record.payload.length;
    case "delivery":
    case "response":
      return message.payload.length;
    case "read":
      return message.record?.payload.length ?? 0;
    default:
      return 0;
  }
}
