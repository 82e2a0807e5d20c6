import type { Message } from "@ringwall/actor";

type Delivered = Extract<Message, { kind: "delivery" }>;

/** Time in which whoever was handed a Hello has announced that it took the session. */
const PATIENCE_MS = 500;

/** Hellos that are waited for; a later one finds no room and is repeated by its agent. */
const LIMIT = 65_536;

/**
 * Hellos that were perhaps handed to a gateway that is gone. Each is kept for a moment; one whose
 * session nobody took until then is to be taken here.
 */
export class Orphans {
  readonly #hellos = new Map<string, { readonly hello: Delivered; readonly sinceMs: number }>();

  /** An agent said Hello to somebody. */
  heard(workload: string, hello: Delivered, nowMs: number): void {
    // The order is that of the times.
    this.#hellos.delete(workload);
    if (this.#hellos.size < LIMIT) {
      this.#hellos.set(workload, { hello, sinceMs: nowMs });
    }
  }

  /** Somebody took a session of the workload. */
  taken(workload: string): void {
    this.#hellos.delete(workload);
  }

  /** Hellos that nobody took; they are forgotten. */
  due(nowMs: number): readonly Delivered[] {
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
