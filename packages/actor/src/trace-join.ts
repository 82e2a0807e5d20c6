/** Most links of one span; further work that was coalesced is not named. */
export const SPAN_LINKS_LIMIT = 16;

/** What a span continues, and what else it stands for. */
export interface Joined {
  /** Traceparent of the newest piece of work. */
  readonly parent: string;
  /** When that piece began to wait, Unix milliseconds. */
  readonly sinceUnixMs: number;
  /** Traceparents of the older pieces, oldest first, at most `SPAN_LINKS_LIMIT`. */
  readonly links: readonly string[];
}

/** Gathers the traces of work that is done in one go: the newest is continued, the others linked. */
export class TraceJoin {
  #joined: Joined | undefined;

  /** The trace that will be continued. */
  get newest(): string | undefined {
    return this.#joined?.parent;
  }

  /** Adds a piece of work; one without a trace adds nothing. */
  add(trace: string | undefined, sinceUnixMs: number): void {
    if (trace === undefined || trace === this.#joined?.parent) {
      return;
    }
    const { parent, links = [] } = this.#joined ?? {};
    const more = parent === undefined || links.length >= SPAN_LINKS_LIMIT ? [] : [parent];
    this.#joined = { parent: trace, sinceUnixMs, links: [...links, ...more] };
  }

  /** What was gathered, undefined if nothing was traced; it is empty afterwards. */
  take(): Joined | undefined {
    const joined = this.#joined;
    this.#joined = undefined;
    return joined;
  }
}
