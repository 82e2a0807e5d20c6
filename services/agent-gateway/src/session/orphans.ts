import type { Message } from "@ringwall/actor";

type Delivered = Extract<Message, { kind: "delivery" }>;

/** Time in which whoever was handed a Hello has announced that it took the session. */
const PATIENCE_MS = 500;

/** Time in which a Hello may still come after the word that its session was taken. */
const LATE_MS = 2000;

/** Hellos that are waited for; a later one finds no room and is repeated by its agent. */
const LIMIT = 65_536;

/**
 * Hellos that were perhaps handed to a gateway that is gone. Each is kept for a moment; one whose
 * session nobody took until then is to be taken here.
 */
export class Orphans {
  readonly #hellos = new Map<string, { readonly hello: Delivered; readonly sinceMs: number }>();

  /** When sessions were taken lately, by workload, the oldest first. */
  readonly #taken = new Map<string, number>();

  /** An agent said Hello to somebody. */
  heard(workload: string, hello: Delivered, nowMs: number): void {
    if (nowMs - (this.#taken.get(workload) ?? Number.NEGATIVE_INFINITY) < LATE_MS) {
      return;
    }
    // The order is that of the times.
    this.#hellos.delete(workload);
    if (this.#hellos.size < LIMIT) {
      this.#hellos.set(workload, { hello, sinceMs: nowMs });
    }
  }

  /** Somebody took a session of the workload. */
  taken(workload: string, nowMs: number): void {
    this.#hellos.delete(workload);
    this.#taken.delete(workload);
    this.#taken.set(workload, nowMs);
  }

  /** Hellos that nobody took; they are forgotten. */
  due(nowMs: number): readonly Delivered[] {
    for (const [workload, sinceMs] of this.#taken) {
      if (nowMs - sinceMs < LATE_MS) {
        break;
      }
      this.#taken.delete(workload);
    }
    const due: Delivered[] = [];
    for (const [workload, { hello, sinceMs }] of this.#hellos) {
      if (nowMs - sinceMs < PATIENCE_MS) {
        break;
      }
      this.#hellos.delete(workload);
      due.push(hello);
    }
    return due;
  }

  /** Forgets all. */
  clear(): void {
    this.#hellos.clear();
  }
}
