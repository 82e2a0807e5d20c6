import { create } from "@bufbuild/protobuf";
import { names } from "@ringwall/bus";
import { WatchFrameSchema, WorkloadFilterSchema } from "@ringwall/wire";
import type { WatchCursor } from "../reads/watch-cursor.ts";
import { type CompiledFilter, compileFilter, inFilter } from "../reads/workload-filter.ts";
import type { Registry } from "../registry.ts";
import { storedRecord } from "./stored.ts";
import { digestOf, WatchedWorkloads } from "./watched-workloads.ts";

export const NAMES = names("t");

/** A filter of a selector in text form. */
export function selector(text: string): CompiledFilter {
  return compileFilter(create(WorkloadFilterSchema, { selector: text }));
}

/** Digest of what a filter finds in a registry now. */
export function expected(registry: Registry, filter: CompiledFilter): string {
  const stored = [...registry.workloads()].map(({ served }) => served);
  return digestOf(stored.filter((record) => inFilter(filter, record)));
}

/** Puts `w-0` … into a registry, odd ones labelled `app=web`, even ones `app=db`. */
export function fill(registry: Registry, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const labels = { app: index % 2 ? "web" : "db" };
    registry.apply(storedRecord(NAMES, index + 1, { id: `w-${index}`, labels }));
  }
}

/** Reads what a cursor has into a client; each stream counts its frames from 1. */
export class WatchClient {
  readonly known = new WatchedWorkloads();
  readonly removed: string[] = [];
  #cursor: WatchCursor;
  #seq = 0n;

  constructor(cursor: WatchCursor) {
    this.#cursor = cursor;
  }

  reopen(cursor: WatchCursor): void {
    this.#cursor = cursor;
    this.#seq = 0n;
  }

  /** Reads at most `frames` frames; returns what they were. */
  read(frames = Number.POSITIVE_INFINITY, maxBytes = 8_192, nowMs = 0): string[] {
    const cases: string[] = [];
    for (let count = 0; count < frames; count += 1) {
      const next = this.#cursor.next(maxBytes, nowMs);
      if (next === undefined) {
        break;
      }
      this.#seq += 1n;
      const frame = create(WatchFrameSchema, { ...next, seq: this.#seq });
      this.known.take(frame);
      if (frame.body.case === "workloads") {
        this.removed.push(...frame.body.value.removes);
      }
      cases.push(frame.body.case ?? "");
      if (frame.body.case === "resync") {
        break;
      }
    }
    return cases;
  }
}
