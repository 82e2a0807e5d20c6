import type { Session } from "../session.ts";

const REDRAW_MS = 100;
const SHOWN_AFTER_MS = 400;

/** Hears counts and shows them on a line of the terminal; says nothing where there is none. */
export class Progress {
  readonly #session: Session;
  readonly #enabled: boolean;
  readonly #started = performance.now();
  #drawn = 0;
  #isShown = false;

  constructor(session: Session) {
    this.#session = session;
    this.#enabled = session.context.stderr.isTTY === true && !session.out.json;
  }

  /** Shows what is done, at most ten times a second and only when it takes a while. */
  show(what: string, done: number, all?: number): void {
    const now = performance.now();
    if (!this.#enabled || now - this.#started < SHOWN_AFTER_MS || now - this.#drawn < REDRAW_MS) {
      return;
    }
    this.#drawn = now;
    this.#isShown = true;
    const share = all === undefined ? "" : ` of ${all}`;
    this.#session.context.stderr.write(`\r\u001b[2K${what}: ${done}${share} files`);
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#isShown) this.#session.context.stderr.write("\r\u001b[2K");
    this.#isShown = false;
  }
}
