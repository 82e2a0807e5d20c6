import { GHOST_MS } from "../limits.ts";
import type { Pages } from "../status/pages.ts";
import type { Session } from "./session.ts";

/** Sessions that are looked at in a tenth of an interval each. */
const TURNS = 10;

/**
 * The sessions of this gateway, and the agents that are gone and not heard of elsewhere: those stay
 * listed, so that operators see who is missing and which bodies were refused.
 */
export class Book {
  readonly #pages: Pages;
  readonly #sessions = new Map<string, Session>();
  readonly #ghosts = new Map<string, Session>();
  #turn = 0;

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  /** Number of open sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Open sessions. */
  get sessions(): Iterable<Session> {
    return this.#sessions.values();
  }

  /** Agents that are gone. */
  get ghosts(): Iterable<Session> {
    return this.#ghosts.values();
  }

  /** The open session of a workload. */
  get(workload: string): Session | undefined {
    return this.#sessions.get(workload);
  }

  /** The agent of a workload that is gone. */
  ghost(workload: string): Session | undefined {
    return this.#ghosts.get(workload);
  }

  /** Opens a session; whatever was listed of the workload goes. */
  open(session: Session): void {
    this.forget(session.workload);
    this.#sessions.set(session.workload, session);
    this.#pages.add(session);
  }

  /** The agent is gone; it stays listed if `keep` is set. */
  close(session: Session, keep: boolean): void {
    if (this.#sessions.get(session.workload) === session) {
      this.#sessions.delete(session.workload);
      if (keep) {
        this.#ghosts.set(session.workload, session);
      } else {
        this.#pages.remove(session);
      }
    }
  }

  /** Lists nothing of the workload any more. */
  forget(workload: string): void {
    for (const listed of [this.#sessions.get(workload), this.#ghosts.get(workload)]) {
      if (listed !== undefined) {
        this.#pages.remove(listed);
      }
    }
    this.#sessions.delete(workload);
    this.#ghosts.delete(workload);
  }

  /** The next tenth of the open sessions, in turn. */
  *nextTurn(): Iterable<Session> {
    this.#turn = (this.#turn + 1) % TURNS;
    for (const session of this.#sessions.values()) {
      if (session.slot % TURNS === this.#turn) {
        yield session;
      }
    }
  }

  /** Drops agents that have been gone for a day. */
  exorcise(nowMs: number): void {
    for (const [workload, ghost] of this.#ghosts) {
      if (nowMs - ghost.seenMs > GHOST_MS) {
        this.#ghosts.delete(workload);
        this.#pages.remove(ghost);
      }
    }
  }
}
