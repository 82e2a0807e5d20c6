import { EffectFailed, readAt, type Task } from "@ringwall/actor";
import { HEADER } from "@ringwall/bus";
import type { KeeperContext } from "../context.ts";
import { append, type Write } from "../log/append.ts";
import type { LogEnd } from "./open-partition.ts";

type Place = Pick<LogEnd, "sequence" | "write">;

/**
 * The last record of a partition's log, by which the next write is fenced. A sequence alone does not
 * tell one life of the log from another: whenever the connection was away, the record is looked at
 * again before anything is written behind it, and after what was on its way meanwhile.
 */
export class FencedEnd {
  readonly #context: KeeperContext;
  readonly #subject: string;
  readonly #suspect: (reason: string) => void;
  #place: Place = { sequence: 0, write: "" };
  #isDoubtful = false;

  /** `suspect` is told why the log is another one than was read. */
  constructor(context: KeeperContext, subject: string, suspect: (reason: string) => void) {
    this.#context = context;
    this.#subject = subject;
    this.#suspect = suspect;
  }

  /** The log ends here: its leader has said so. */
  opened({ sequence, write }: Place): void {
    this.#place = { sequence, write };
  }

  /** The store may be another one from now on. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** The leader is about to be asked for the end. */
  trust(): void {
    this.#isDoubtful = false;
  }

  /** Writes behind the end; throws EffectFailed, `fence-lost` if somebody else wrote or the log is another. */
  *store(record: Omit<Write, "stream" | "subject" | "fence">): Task<number> {
    yield* this.#confirm(this.#place);
    const before = this.#place;
    const write = this.#context.nextWrite();
    const { sequence } = before;
    const fence = { sequence, write };
    const stored = yield* append({ stream: "VERSIONS", subject: this.#subject, fence, ...record });
    this.#place = { sequence: stored, write };
    yield* this.#confirm(before);
    return stored;
  }

  *#confirm({ sequence, write }: Place): Task<void> {
    if (!this.#isDoubtful) {
      return;
    }
    this.#isDoubtful = false;
    const record = sequence === 0 ? undefined : yield* readAt("VERSIONS", sequence);
    if (sequence > 0 && record?.headers[HEADER.write] !== write) {
      const detail = `the record at sequence ${sequence} is another than it was`;
      this.#suspect(detail);
      throw new EffectFailed("append", "fence-lost", detail);
    }
  }
}
