import { hash } from "node:crypto";
import type { Head } from "../../body-source.ts";
import { refusalText } from "../../full/refusal.ts";
import { ByteWriter } from "../store/byte-writer.ts";
import { DigestHolders, type Moment } from "../store/text-sets.ts";
import { writeManifest } from "./manifest.ts";
import type { PolicyClass } from "./policy-class.ts";
import { type BodySets, refusalOf } from "./sizes.ts";

/** Byte that a BodyManifest is hashed with. */
const BODY_TYPE = 3;

/**
 * Renders classes. Bytes are not kept: a manifest and the sets that it names are written again when
 * somebody asks for them, for what is in force and for what was before the present flush.
 */
export class Bodies {
  readonly #sets: BodySets;
  readonly #writer = new ByteWriter();
  readonly #byDigest = new DigestHolders();
  readonly #classAt: (index: number) => PolicyClass | undefined;
  readonly #beforeByDigest = new Map<string, PolicyClass>();
  /** Heads, before, of classes that were rendered in the present flush. */
  readonly #before = new Map<PolicyClass, Head | undefined>();

  constructor(sets: BodySets, classAt: (index: number) => PolicyClass | undefined) {
    this.#sets = sets;
    this.#classAt = classAt;
  }

  /** Renders a class; true if it has another head now. */
  render(policyClass: PolicyClass): boolean {
    const before = policyClass.head;
    const head = this.#headOf(policyClass);
    this.#before.set(policyClass, before);
    policyClass.head = head;
    if (before !== undefined && sameHead(before, head)) {
      policyClass.head = before;
      return false;
    }
    if (before?.kind === "body") {
      this.#byDigest.remove(before.digest, policyClass.index);
      this.#beforeByDigest.set(before.digest, policyClass);
    }
    if (head.kind === "body") {
      this.#byDigest.add(head.digest, policyClass.index);
    }
    return true;
  }

  /** Head of a class before the present flush. */
  headBefore(policyClass: PolicyClass): Head | undefined {
    return this.#before.has(policyClass) ? this.#before.get(policyClass) : policyClass.head;
  }

  /** Forgets what classes were before the flush that ended. */
  settle(): void {
    this.#before.clear();
    this.#beforeByDigest.clear();
  }

  /** Forgets a class. */
  drop({ index, head }: PolicyClass): void {
    if (head?.kind === "body") {
      this.#byDigest.remove(head.digest, index);
    }
  }

  /** Digests of the objects of a body, its own first. */
  objectsOf(digest: string): readonly string[] {
    const found = this.#find(digest);
    if (found === undefined) {
      return [];
    }
    const { policyClass, moment } = found;
    const { peers, endpoints } = this.#sets;
    const named = policyClass.list.rules.map(({ source }) => peers.digest(source, moment));
    for (const { splits } of policyClass.routes.decisions) {
      for (const { bucket } of splits) {
        named.push(endpoints.digest(bucket.set, moment));
      }
    }
    return [digest, ...Array.from(new Set(named), toHex)];
  }

  /** Bytes of a body's manifest or of a set, by digest. */
  object(digest: string): Uint8Array<ArrayBuffer> | undefined {
    const found = this.#find(digest);
    if (found !== undefined) {
      writeManifest(found.policyClass, found.moment, this.#sets, this.#writer);
      return this.#writer.take();
    }
    const binary = Buffer.from(digest, "hex").toString("latin1");
    return this.#sets.peers.encode(binary) ?? this.#sets.endpoints.encode(binary);
  }

  #find(digest: string): { policyClass: PolicyClass; moment: Moment } | undefined {
    const policyClass = this.#classAt(this.#byDigest.first(digest) ?? -1);
    if (policyClass !== undefined) {
      // Its sets may have changed already in a flush that has not come to it.
      return { policyClass, moment: this.#before.has(policyClass) ? "now" : "before" };
    }
    const before = this.#beforeByDigest.get(digest);
    return before === undefined ? undefined : { policyClass: before, moment: "before" };
  }

  #headOf(policyClass: PolicyClass): Head {
    const { mode, weaker } = policyClass.mode;
    const refusal = refusalOf(policyClass, this.#sets);
    if (refusal !== undefined) {
      return { kind: "refused", reason: refusalText(refusal), mode, weaker };
    }
    this.#writer.byte(BODY_TYPE);
    writeManifest(policyClass, "now", this.#sets, this.#writer);
    const digest = hash("sha256", this.#writer.view(), "hex");
    this.#writer.reset();
    return { kind: "body", digest, mode, weaker };
  }
}

/** True if two heads say the same. */
export function sameHead(a: Head, b: Head): boolean {
  return (
    a.kind === b.kind &&
    a.mode === b.mode &&
    a.weaker === b.weaker &&
    (a.kind === "body" ? a.digest : a.reason) === (b.kind === "body" ? b.digest : b.reason)
  );
}

function toHex(binary: string): string {
  return Buffer.from(binary, "latin1").toString("hex");
}
