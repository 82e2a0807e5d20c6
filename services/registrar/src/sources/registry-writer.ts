import { setTimeout as delay } from "node:timers/promises";
import { type Api, BusError, partitionOf } from "@ringwall/bus";
import {
  type ApiError,
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
  type ReportWorkloadRequest,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  type RowProblem,
} from "@ringwall/wire";

/** Requests that are under way at the same time. */
const CONCURRENCY = 32;

const RETRY_MS = 500;

/** What became of a write. */
export interface Written {
  readonly id: string;
  /** Set when the registrar refused it for good. */
  readonly error: ApiError | undefined;
  readonly problems: readonly RowProblem[];
}

/**
 * Writes the newest wish for each workload, a report or its removal, and tries again until the
 * registrar has answered. A newer wish takes the place of one that still waits.
 */
export class RegistryWriter {
  readonly #api: Api;
  readonly #onWritten: (written: Written) => void;
  readonly #signal: AbortSignal;
  readonly #wishes = new Map<string, ReportWorkloadRequest | undefined>();
  readonly #busy = new Set<string>();
  #running = 0;

  constructor(api: Api, signal: AbortSignal, onWritten: (written: Written) => void) {
    this.#api = api;
    this.#signal = signal;
    this.#onWritten = onWritten;
  }

  /** Wishes that are not written yet. */
  get waiting(): number {
    return this.#wishes.size + this.#busy.size;
  }

  report(request: ReportWorkloadRequest): void {
    this.#wish(request.id, request);
  }

  remove(id: string): void {
    this.#wish(id, undefined);
  }

  #wish(id: string, wish: ReportWorkloadRequest | undefined): void {
    this.#wishes.delete(id);
    this.#wishes.set(id, wish);
    if (this.#running < CONCURRENCY) {
      this.#running += 1;
      void this.#work();
    }
  }

  async #work(): Promise<void> {
    for (;;) {
      const id = this.#next();
      if (id === undefined || this.#signal.aborted) {
        this.#running -= 1;
        return;
      }
      const wish = this.#wishes.get(id);
      this.#wishes.delete(id);
      this.#busy.add(id);
      const written = await this.#write(id, wish);
      this.#busy.delete(id);
      if (written !== undefined) {
        this.#onWritten(written);
      } else if (!this.#wishes.has(id)) {
        this.#wishes.set(id, wish);
        await delay(RETRY_MS, undefined, { signal: this.#signal }).catch(() => undefined);
      }
    }
  }

  /** The workload that waits longest and is not being written. */
  #next(): string | undefined {
    for (const id of this.#wishes.keys()) {
      if (!this.#busy.has(id)) {
        return id;
      }
    }
    return undefined;
  }

  /** Undefined if it has to be tried again. */
  async #write(id: string, wish: ReportWorkloadRequest | undefined): Promise<Written | undefined> {
    const partition = { partition: partitionOf(id) };
    try {
      const answer =
        wish === undefined
          ? {
              problems: [],
              ...(await this.#api.call(
                "workload",
                "deregister",
                DeregisterWorkloadRequestSchema,
                DeregisterWorkloadResponseSchema,
                { id },
                partition,
              )),
            }
          : await this.#api.call(
              "workload",
              "report",
              ReportWorkloadRequestSchema,
              ReportWorkloadResponseSchema,
              wish,
              partition,
            );
      const { error, problems } = answer;
      return error?.code === "unavailable" ? undefined : { id, error, problems };
    } catch (error) {
      if (error instanceof BusError) {
        return undefined;
      }
      throw error;
    }
  }
}
