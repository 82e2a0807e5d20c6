import { create, toBinary } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/nats-core";
import { WatchCreditSchema, type WatchResponse } from "@ringwall/wire";

/** What a stream is granted while it is read. */
export interface CreditLine {
  /** One frame was taken. */
  taken(): void;
  /** Ends the stream at the server. */
  close(): void;
}

const GRANT_INTERVAL_MS = 2_000;
const WINDOW_FRAMES = 256;

/** Grants credit every 2 s; a server closes a stream that got none for 10 s. */
export function openCredit(nc: NatsConnection, watch: WatchResponse): CreditLine {
  let outstanding = 0;
  const send = (frames: number, close: boolean) => {
    if (watch.creditSubject === "" || nc.isClosed()) return;
    const credit = create(WatchCreditSchema, { watchId: watch.watchId, frames, close });
    nc.publish(watch.creditSubject, toBinary(WatchCreditSchema, credit));
  };
  const grant = () => {
    send(WINDOW_FRAMES - outstanding, false);
    outstanding = WINDOW_FRAMES;
  };
  grant();
  const timer = setInterval(grant, GRANT_INTERVAL_MS);
  return {
    taken: () => {
      outstanding = Math.max(0, outstanding - 1);
      if (outstanding < WINDOW_FRAMES / 4) grant();
    },
    close: () => {
      clearInterval(timer);
      send(0, true);
    },
  };
}
