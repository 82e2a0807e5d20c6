import { create, toBinary } from "@bufbuild/protobuf";
import { parallel, pause, readLast, type Task } from "@ringwall/actor";
import {
  assemble,
  bodyDigest,
  type Canonical,
  RenderedError,
  references,
} from "@ringwall/rendered";
import { ContentWantSchema, type WorkloadPolicy } from "@ringwall/wire";
import { count, type KeeperContext } from "../context.ts";
import { ByteCache } from "../log/byte-cache.ts";
import { fromHex } from "../log/hex.ts";
import { partCount } from "../log/parts.ts";

/** Memory for objects that were read lately. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** Reads that wait for the bus at the same time. */
const READS_AT_ONCE = 32;

/** Waits between tries after a missing object was asked for. */
const WANT_WAITS_MS = [100, 400, 1_500] as const;

/** A policy, or the digests that are not stored. */
export type PolicyReading =
  | { readonly ok: true; readonly policy: Canonical<WorkloadPolicy> }
  | { readonly ok: false; readonly missing: readonly string[] };

/** Reads bodies of policies from CONTENT. Digests are hex digits. */
export class ContentStore {
  readonly #context: KeeperContext;
  readonly #cache = new ByteCache(CACHE_BYTES);

  constructor(context: KeeperContext) {
    this.#context = context;
  }

  /**
   * Puts a policy together. With `want` what is missing is asked for, and waited for up to 2 s.
   * Content that is not what its digest says counts as missing. Throws EffectFailed when the bus does
   * not answer.
   */
  *policy(digest: string, version: number, want: boolean): Task<PolicyReading> {
    let reading = yield* this.#read(digest, version);
    for (const waitMs of want ? WANT_WAITS_MS : []) {
      if (reading.ok) {
        break;
      }
      this.#want(reading.missing);
      yield* pause(waitMs);
      reading = yield* this.#read(digest, version);
    }
    return reading;
  }

  /** Digests of the sets that a body names; undefined if the body is not stored. */
  *setsOf(digest: string): Task<readonly string[] | undefined> {
    const manifest = yield* this.#object(digest);
    return manifest === undefined ? undefined : this.#references(digest, manifest);
  }

  #references(digest: string, manifest: Uint8Array): readonly string[] | undefined {
    try {
      return references(manifest);
    } catch (error) {
      if (!(error instanceof RenderedError)) {
        throw error;
      }
      this.#distrust([digest]);
      return undefined;
    }
  }

  *#read(digest: string, version: number): Task<PolicyReading> {
    const manifest = yield* this.#object(digest);
    if (manifest === undefined) {
      return { ok: false, missing: [digest] };
    }
    const objects = new Map<string, Uint8Array>();
    const missing: string[] = [];
    const sets = this.#references(digest, manifest);
    if (sets === undefined) {
      return { ok: false, missing: [digest] };
    }
    const read = yield* parallel(this.#context.tasks, sets, READS_AT_ONCE, (set) =>
      this.#object(set),
    );
    for (const [index, set] of sets.entries()) {
      const bytes = read[index];
      if (bytes === undefined) {
        missing.push(set);
      } else {
        objects.set(set, bytes);
      }
    }
    if (missing.length > 0) {
      return { ok: false, missing };
    }
    try {
      const policy = assemble(manifest, (set) => objects.get(set), BigInt(version));
      if (bodyDigest(policy) === digest) {
        return { ok: true, policy };
      }
    } catch (error) {
      if (!(error instanceof RenderedError)) {
        throw error;
      }
    }
    return { ok: false, missing: this.#distrust([digest, ...objects.keys()]) };
  }

  /** Forgets objects of which one is damaged, so that they are read again. */
  #distrust(digests: readonly string[]): readonly string[] {
    count(this.#context, "ringwall_content_damaged_total");
    for (const digest of digests) {
      this.#cache.drop(digest);
    }
    return digests;
  }

  /** Bytes of an object. The same bytes come back as long as they are kept, so sets are decoded once. */
  *#object(digest: string): Task<Uint8Array | undefined> {
    const cached = this.#cache.get(digest);
    if (cached !== undefined) {
      return cached;
    }
    const parts: Uint8Array[] = [];
    let count = 1;
    for (let index = 0; index < count; index += 1) {
      const record = yield* readLast("CONTENT", this.#context.names.content(digest, index));
      if (record === undefined) {
        return undefined;
      }
      count = index === 0 ? partCount(record) : count;
      parts.push(record.payload);
    }
    const only = parts[0];
    const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    this.#cache.put(digest, bytes);
    return bytes;
  }

  #want(digests: readonly string[]): void {
    const { names, outbox } = this.#context;
    count(this.#context, "ringwall_content_wanted_total");
    outbox.add({
      kind: "publish",
      subject: names.internal("content", "want"),
      payload: toBinary(
        ContentWantSchema,
        create(ContentWantSchema, { digests: digests.map(fromHex) }),
      ),
    });
  }
}
