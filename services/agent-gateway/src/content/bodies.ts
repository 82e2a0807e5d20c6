import { assemble, type Canonical, marshal, RenderedError, references } from "@ringwall/rendered";
import { EnforcementMode, type WorkloadPolicy } from "@ringwall/wire";
import { Lru } from "./lru.ts";
import type { Objects } from "./objects.ts";

/** Bodies that are kept in memory, in bytes of their parts; shared sets count for each body. */
const KEPT_BYTES = 256 * 1024 * 1024;

/** Bodies whose mode is remembered. */
const MODES = 200_000;

/** A rendered policy without its version; one object however many workloads have it. */
export interface Body {
  readonly digest: string;
  /** Version 0. */
  readonly policy: Canonical<WorkloadPolicy>;
  readonly weight: number;
  /** Its bytes without a version, encoded once, when the first snapshot is sent. */
  snapshot: Uint8Array | undefined;
}

/** A body that is being put together; its parts are held until it is. */
interface Assembly {
  manifest: Uint8Array | undefined;
  readonly parts: Map<string, Uint8Array>;
  readonly missing: Set<string>;
}

/** Bodies by digest, put together from objects of CONTENT once, on demand. */
export class Bodies {
  readonly #objects: Objects;
  readonly #kept = new Lru<Body>(KEPT_BYTES, (body) => body.weight);
  readonly #modes = new Lru<EnforcementMode>(MODES, () => 1);
  readonly #assemblies = new Map<string, Assembly>();
  readonly #waiting = new Map<string, Set<string>>();
  #ready: string[] = [];
  #corrupt = 0;

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Bodies that are being put together. */
  get pending(): number {
    return this.#assemblies.size;
  }

  /** Objects that were not what their digest says, since start. */
  get corrupt(): number {
    return this.#corrupt;
  }

  /** The body, if it is in memory; otherwise it is put together and named by `takeReady` later. */
  get(digest: string): Body | undefined {
    const found = this.#kept.get(digest);
    if (found === undefined && !this.#assemblies.has(digest)) {
      const assembly = { manifest: undefined, parts: new Map(), missing: new Set<string>() };
      this.#assemblies.set(digest, assembly);
      this.#need(digest, assembly, digest);
      this.#advance(digest, assembly);
      return this.#kept.get(digest);
    }
    return found;
  }

  /** Mode of a body that has been in memory lately. */
  modeOf(digest: string): EnforcementMode {
    return this.#modes.get(digest) ?? EnforcementMode.UNSPECIFIED;
  }

  /** The bytes of the body's policy without a version. */
  snapshot(body: Body): Uint8Array {
    body.snapshot ??= marshal(body.policy);
    return body.snapshot;
  }

  /** An object has come into memory. */
  arrived(object: string): void {
    const waiting = this.#waiting.get(object);
    this.#waiting.delete(object);
    for (const digest of waiting ?? []) {
      const assembly = this.#assemblies.get(digest);
      if (assembly?.missing.has(object) === true) {
        assembly.missing.delete(object);
        this.#need(digest, assembly, object);
        this.#advance(digest, assembly);
      }
    }
  }

  /** True if a part of the body was looked for and not found. */
  isMissing(digest: string): boolean {
    const assembly = this.#assemblies.get(digest);
    return assembly !== undefined && this.#objects.areMissing(assembly.missing);
  }

  /** Drops bodies that lack a part nobody holds and that are not `needed`. */
  tidy(needed: (digest: string) => boolean): void {
    for (const digest of [...this.#assemblies.keys()]) {
      if (this.isMissing(digest) && !needed(digest)) {
        this.abandon(digest);
      }
    }
  }

  /** Nobody needs the body any more: what it lacks is not looked for on its account. */
  abandon(digest: string): void {
    const assembly = this.#assemblies.get(digest);
    this.#assemblies.delete(digest);
    for (const object of assembly?.missing ?? []) {
      const waiting = this.#waiting.get(object);
      waiting?.delete(digest);
      if (waiting?.size === 0) {
        this.#waiting.delete(object);
        this.#objects.abandon(object);
      }
    }
  }

  /** Bodies that wait for an object. */
  waitingFor(object: string): readonly string[] {
    return [...(this.#waiting.get(object) ?? [])];
  }

  /** Bodies that have become ready since the last call. */
  takeReady(): readonly string[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #need(digest: string, assembly: Assembly, object: string): void {
    const bytes = this.#objects.get(object);
    if (bytes !== undefined) {
      assembly.parts.set(object, bytes);
      return;
    }
    assembly.missing.add(object);
    const waiting = this.#waiting.get(object) ?? new Set();
    waiting.add(digest);
    this.#waiting.set(object, waiting);
    this.#objects.want(object);
  }

  #advance(digest: string, assembly: Assembly): void {
    if (assembly.missing.size > 0) {
      return;
    }
    try {
      if (assembly.manifest === undefined) {
        assembly.manifest = assembly.parts.get(digest) ?? new Uint8Array();
        for (const object of references(assembly.manifest)) {
          this.#need(digest, assembly, object);
        }
      }
      if (assembly.missing.size === 0) {
        this.#finish(digest, assembly, assembly.manifest);
      }
    } catch (thrown) {
      if (!(thrown instanceof RenderedError)) {
        throw thrown;
      }
      this.#restart(digest, assembly);
    }
  }

  #finish(digest: string, assembly: Assembly, manifest: Uint8Array): void {
    const policy = assemble(manifest, (object) => assembly.parts.get(object), 0n);
    let weight = 1000;
    for (const part of assembly.parts.values()) {
      weight += part.length * 2;
    }
    this.#kept.set(digest, { digest, policy, weight, snapshot: undefined });
    this.#modes.set(digest, policy.mode);
    this.#assemblies.delete(digest);
    this.#ready.push(digest);
  }

  /** A part is not what its digest says: all of them are read again, from the stream. */
  #restart(digest: string, assembly: Assembly): void {
    this.#corrupt += 1;
    const objects = [...assembly.parts.keys()];
    assembly.manifest = undefined;
    assembly.parts.clear();
    for (const object of objects) {
      this.#objects.distrust(object);
    }
    this.#need(digest, assembly, digest);
  }
}
