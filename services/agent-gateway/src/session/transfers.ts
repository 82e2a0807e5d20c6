import { createHash } from "node:crypto";
import { MESSAGE_BYTES } from "../limits.ts";
import type { Outbox } from "../outbox.ts";
import { chunkBytes, policyVersion } from "../wire/down-bytes.ts";
import type { Session } from "./session.ts";

/** Snapshots that are sent at the same time; others wait. */
const ACTIVE = 4;

/** Chunks hashed or sent in one turn: about 2 ms of hashing. */
const CHUNKS_PER_TURN = 4;

/** Pause between turns, so that the connection's buffer stays small. */
const TURN_MS = 10;

/** Timer of the turns. */
export const TRANSFER_TIMER = "transfers";

interface Transfer {
  readonly session: Session;
  readonly id: number;
  /** Bytes of the policy: its version, then its body. */
  readonly version: Uint8Array;
  readonly body: Uint8Array;
  readonly hash: ReturnType<typeof createHash>;
  hashed: number;
  sha256: Uint8Array | undefined;
  next: number;
}

/** Sends one chunk; the last one ends the transfer. */
export type SendChunk = (
  session: Session,
  fields: Uint8Array,
  data: Uint8Array,
  last: boolean,
) => void;

/** Snapshots above the message limit, sent in chunks at a measured pace. */
export class Transfers {
  readonly #out: Outbox;
  readonly #send: SendChunk;
  #active: Transfer[] = [];
  #waiting: Transfer[] = [];
  #ids = 0;

  constructor(out: Outbox, send: SendChunk) {
    this.#out = out;
    this.#send = send;
  }

  /** Transfers that are under way or wait. */
  get size(): number {
    return this.#active.length + this.#waiting.length;
  }

  /** Begins to send a snapshot; `body` is its policy without a version. */
  begin(session: Session, version: number, body: Uint8Array): void {
    this.cancel(session);
    session.transferring = true;
    this.#ids += 1;
    const prefix = policyVersion(version);
    const hash = createHash("sha256").update(prefix);
    const transfer = { session, id: this.#ids, version: prefix, body, hash, hashed: 0, next: 0 };
    this.#waiting.push({ ...transfer, sha256: undefined });
    this.#schedule();
  }

  /** Ends the session's transfer. */
  cancel(session: Session): void {
    if (session.transferring) {
      session.transferring = false;
      this.#active = this.#active.filter((transfer) => transfer.session !== session);
      this.#waiting = this.#waiting.filter((transfer) => transfer.session !== session);
    }
  }

  /** Goes on with the active transfers. */
  turn(): void {
    while (this.#active.length < ACTIVE) {
      const next = this.#waiting.shift();
      if (next === undefined) {
        break;
      }
      this.#active.push(next);
    }
    for (let budget = CHUNKS_PER_TURN; budget > 0; budget -= 1) {
      const transfer = this.#active.shift();
      if (transfer === undefined) {
        break;
      }
      if (this.#advance(transfer)) {
        this.#active.push(transfer);
      }
    }
    this.#schedule();
  }

  /** One chunk's worth of work; false when the transfer is done. */
  #advance(transfer: Transfer): boolean {
    const { session, version, body, hash } = transfer;
    if (transfer.sha256 === undefined) {
      hash.update(body.subarray(transfer.hashed, transfer.hashed + MESSAGE_BYTES));
      transfer.hashed += MESSAGE_BYTES;
      if (transfer.hashed >= body.length) {
        transfer.sha256 = hash.digest();
      }
      return true;
    }
    const total = version.length + body.length;
    const count = Math.ceil(total / MESSAGE_BYTES);
    const index = transfer.next;
    transfer.next += 1;
    const start = index * MESSAGE_BYTES;
    const end = Math.min(total, start + MESSAGE_BYTES);
    const data = part(version, body, start, end);
    const last = transfer.next === count;
    if (last) {
      session.transferring = false;
    }
    this.#send(
      session,
      chunkBytes(transfer.id, index, count, transfer.sha256, data.length),
      data,
      last,
    );
    return !last;
  }

  #schedule(): void {
    if (this.size > 0) {
      this.#out.add({ kind: "timer", id: TRANSFER_TIMER, delayMs: TURN_MS });
    }
  }
}

function part(version: Uint8Array, body: Uint8Array, start: number, end: number): Uint8Array {
  const skip = version.length;
  return start >= skip
    ? body.subarray(start - skip, end - skip)
    : Buffer.concat([version.subarray(start), body.subarray(0, end - skip)]);
}
