import { SLICE } from "./limits.ts";
import type { GatewayParts } from "./parts.ts";
import type { Session } from "./session/session.ts";

/** Sessions that wait to be judged, a slice at a time, so that no step takes long. */
export class Line {
  readonly #parts: GatewayParts;
  #waiting: Session[] = [];
  #paused = false;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** Puts a session in line, once. */
  add(session: Session): void {
    if (!session.queued) {
      session.queued = true;
      this.#waiting.push(session);
    }
  }

  /** Puts every session in line that something outside has to change for. */
  addBlocked(): void {
    for (const session of this.#parts.pusher.blocked) {
      this.add(session);
    }
  }

  /** The mailbox had its turn. */
  resume(): void {
    this.#paused = false;
  }

  /** Judges the next slice; the rest waits until the mailbox had its turn. */
  drain(): void {
    if (this.#paused || this.#waiting.length === 0) {
      return;
    }
    const slice = this.#waiting.slice(0, SLICE);
    this.#waiting = this.#waiting.slice(SLICE);
    for (const session of slice) {
      session.queued = false;
      if (this.#parts.book.get(session.workload) === session) {
        this.#parts.pusher.consider(session);
      }
    }
    if (this.#waiting.length > 0) {
      this.#paused = true;
      this.#parts.out.add({ kind: "again", tag: "line" });
    }
  }
}
