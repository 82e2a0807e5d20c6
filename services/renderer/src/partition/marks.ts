import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ask, type Task } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import type { Head, WorkloadSpec } from "@ringwall/render";
import { MarkEnforcedRequestSchema, MarkEnforcedResponseSchema } from "@ringwall/wire";

/** Workloads named in one request. */
const PER_REQUEST = 2_000;

const TIMEOUT_MS = 5_000;

interface Wanted {
  readonly marks: Set<string>;
  readonly clears: Set<string>;
}

/**
 * Marks that the registry does not have yet: `enforced` of a workload whose body is enforced, which
 * must be there before that body goes out, and its end after an explicit weaker mode. The mark is what
 * keeps a workload enforced when its mode gets lost.
 */
export class Marks {
  readonly #wanted = new Map<number, Wanted>();

  /**
   * Holds a workload's head against its registry record; either may be gone. True if that changed what
   * is wanted.
   */
  review(
    id: string,
    partition: number,
    head: Head | undefined,
    record: WorkloadSpec | undefined,
  ): boolean {
    const { marks, clears } = this.#of(partition);
    const both = head !== undefined && record !== undefined;
    const marked = change(marks, id, both && head.mode === "enforced" && !record.enforced);
    const cleared = change(clears, id, both && head.weaker && record.enforced);
    return marked || cleared;
  }

  /** Workloads of a partition that have to be marked before anything of it goes out. */
  marks(partition: number): readonly string[] {
    return [...this.#of(partition).marks].slice(0, PER_REQUEST);
  }

  /** Workloads of a partition whose mark has to go. */
  clears(partition: number): readonly string[] {
    return [...this.#of(partition).clears].slice(0, PER_REQUEST);
  }

  #of(partition: number): Wanted {
    let wanted = this.#wanted.get(partition);
    if (wanted === undefined) {
      wanted = { marks: new Set(), clears: new Set() };
      this.#wanted.set(partition, wanted);
    }
    return wanted;
  }
}

/** Marks to set or clear. */
export interface MarkOrder {
  readonly workloads: readonly string[];
  readonly enforced: boolean;
  /** Trace of what needs them. */
  readonly trace: string | undefined;
}

/** Asks the partition's registrar to set or clear marks; an error text, or undefined when stored. */
export function* requestMarks(
  names: Names,
  partition: number,
  { workloads, enforced, trace }: MarkOrder,
): Task<string | undefined> {
  const request = create(MarkEnforcedRequestSchema, { workloads: [...workloads], enforced });
  const answer = yield* ask((tag) => ({
    kind: "request",
    tag,
    subject: `${names.internal("workload", "enforced")}.${partition}`,
    payload: toBinary(MarkEnforcedRequestSchema, request),
    timeoutMs: TIMEOUT_MS,
    ...(trace === undefined ? {} : { trace }),
  }));
  if (answer.kind !== "response") {
    throw new TypeError(`a request was answered by ${answer.kind}`);
  }
  const { error } = fromBinary(MarkEnforcedResponseSchema, answer.payload);
  return error === undefined ? undefined : `${error.code}: ${error.message}`;
}

function change(set: Set<string>, id: string, wanted: boolean): boolean {
  if (set.has(id) === wanted) {
    return false;
  }
  if (wanted) {
    set.add(id);
  } else {
    set.delete(id);
  }
  return true;
}
