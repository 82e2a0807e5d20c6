import { create, toBinary } from "@bufbuild/protobuf";
import { delta, describe } from "@ringwall/rendered";
import { type PolicyDelta, PolicyDeltaSchema } from "@ringwall/wire";
import type { Bodies } from "./bodies.ts";
import { Lru } from "./lru.ts";

/** Deltas that are kept in memory, in bytes. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** The step from one body to another, computed and encoded once for all workloads that take it. */
export interface SharedDelta {
  /** The field `changes` of a PolicyDelta. */
  readonly bytes: Uint8Array;
  readonly delta: PolicyDelta;
}

/** Steps between bodies, by the digests of both. */
export class Deltas {
  readonly #bodies: Bodies;
  readonly #kept = new Lru<SharedDelta>(KEPT_BYTES, ({ bytes }) => bytes.length * 4 + 500);
  #computed = 0;

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
  }

  /** Deltas computed since start. */
  get computed(): number {
    return this.#computed;
  }

  /** The step, if both bodies are in memory; otherwise they are asked for. */
  between(fromDigest: string, toDigest: string): SharedDelta | undefined {
    const key = `${fromDigest}>${toDigest}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      return known;
    }
    const from = this.#bodies.get(fromDigest);
    const to = this.#bodies.get(toDigest);
    if (from === undefined || to === undefined) {
      return undefined;
    }
    this.#computed += 1;
    const step = delta(from.policy, to.policy);
    const bare = create(PolicyDeltaSchema, { changes: step.changes });
    const shared = { bytes: toBinary(PolicyDeltaSchema, bare), delta: bare };
    this.#kept.set(key, shared);
    return shared;
  }

  /** The changes of a step in words, at most `limit` lines. */
  static words(shared: SharedDelta, limit: number): readonly string[] {
    const { changes } = shared.delta;
    const lines = changes.slice(0, limit).map((change) => describe(change));
    return changes.length > limit ? [...lines, `and ${changes.length - limit} more`] : lines;
  }
}
