import { hash } from "node:crypto";
import type { Head } from "../../body-source.ts";
import { type Refusal, refusalText } from "../../full/refusal.ts";
import { ByteWriter } from "../store/byte-writer.ts";
import { Ids } from "../store/ids.ts";
import { TextIds } from "../store/text-ids.ts";
import type { Moment } from "../store/text-sets.ts";
import { BodyHead, KnownHead } from "./known-head.ts";
import { writeManifest } from "./manifest.ts";
import type { PolicyClass } from "./policy-class.ts";
import { type BodySets, refusalOf } from "./sizes.ts";

/** Byte that a BodyManifest is hashed with. */
const BODY_TYPE = 3;
/** Hexadecimal digits of a digest that are 32 bits of hash. */
const DIGITS_HASHED = 8;

type RefusedHead = Extract<Head, { kind: "refused" }>;

/**
 * Renders classes. Bytes are not kept: a manifest and the sets that it names are written again when
 * somebody asks for them, for what is in force and for what was before the present flush.
 */
export class Bodies {
  readonly #sets: BodySets;
  readonly #writer = new ByteWriter();
  readonly #ids = new Ids();
  readonly #known: (KnownHead | undefined)[] = [];
  /** Ids of bodies by digest; the second table is of those with `weaker`. */
  readonly #byDigest = [this.#digestIds(), this.#digestIds()] as const;
  readonly #refused = new Map<string, KnownHead>();
  /** Heads that lost their last class; they live until the next flush, so that equal stays one. */
  #unheld: KnownHead[] = [];
  /** Classes that had another head before the present flush. */
  #changed: PolicyClass[] = [];
  #flush = 1;

  constructor(sets: BodySets) {
    this.#sets = sets;
  }

  /** Makes room for so many bodies, known beforehand. */
  reserve(bodies: number): void {
    this.#byDigest[0].reserve(bodies);
    this.#known.length = Math.max(this.#known.length, bodies);
  }

  /** Renders a class; true if it has another head now. */
  render(policyClass: PolicyClass): boolean {
    const before = policyClass.head;
    const head = this.#headOf(policyClass);
    policyClass.headBefore = before;
    policyClass.renderedIn = this.#flush;
    if (head === before) {
      return false;
    }
    policyClass.head = head;
    if (head.holder === undefined) {
      head.holder = policyClass;
    } else {
      head.others ??= new Set();
      head.others.add(policyClass);
    }
    if (before !== undefined) {
      this.#changed.push(policyClass);
      this.#letGo(before, policyClass);
    }
    return true;
  }

  /** Head of a class before the present flush. */
  headBefore(policyClass: PolicyClass): KnownHead | undefined {
    return policyClass.renderedIn === this.#flush ? policyClass.headBefore : policyClass.head;
  }

  /** Forgets what classes were before the flush that ended. */
  settle(): void {
    this.#flush += 1;
    for (const policyClass of this.#changed) {
      policyClass.headBefore = undefined;
    }
    this.#changed = [];
    for (const known of this.#unheld) {
      known.former = undefined;
      if (known.holder === undefined && this.#known[known.id] === known) {
        this.#forget(known);
      }
    }
    this.#unheld = [];
  }

  /** Forgets a class. */
  drop(policyClass: PolicyClass): void {
    if (policyClass.head !== undefined) {
      this.#letGo(policyClass.head, policyClass);
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
    let former: PolicyClass | undefined;
    for (const table of this.#byDigest) {
      const known = this.#known[table.find(digest)];
      const policyClass = known?.holder;
      if (policyClass !== undefined) {
        // Its sets may have changed already in a flush that has not come to it.
        return { policyClass, moment: policyClass.renderedIn === this.#flush ? "now" : "before" };
      }
      former ??= known?.former;
    }
    return former === undefined ? undefined : { policyClass: former, moment: "before" };
  }

  #headOf(policyClass: PolicyClass): KnownHead {
    const refusal = refusalOf(policyClass, this.#sets);
    if (refusal !== undefined) {
      return this.#internRefused(refusal, policyClass);
    }
    this.#writer.byte(BODY_TYPE);
    writeManifest(policyClass, "now", this.#sets, this.#writer);
    const digest = hash("sha256", this.#writer.view(), "hex");
    this.#writer.reset();
    const table = this.#byDigest[policyClass.mode.weaker ? 1 : 0];
    let known = this.#known[table.find(digest)];
    if (known === undefined) {
      known = this.#create(new BodyHead(digest, policyClass.mode));
      table.add(digest, known.id);
    }
    return known;
  }

  #digestIds(): TextIds {
    return new TextIds({
      textOf: (id) => {
        const head = this.#known[id]?.head;
        return head?.kind === "body" ? head.digest : undefined;
      },
      hashed: DIGITS_HASHED,
    });
  }

  #internRefused(refusal: Refusal, { mode: { mode, weaker } }: PolicyClass): KnownHead {
    const head: RefusedHead = { kind: "refused", reason: refusalText(refusal), mode, weaker };
    const key = refusedKey(head);
    let known = this.#refused.get(key);
    if (known === undefined) {
      known = this.#create(head);
      this.#refused.set(key, known);
    }
    return known;
  }

  #create(head: Head): KnownHead {
    const id = this.#ids.take();
    const known = new KnownHead(id, head);
    this.#known[id] = known;
    return known;
  }

  #forget({ id, head }: KnownHead): void {
    if (head.kind === "body") {
      this.#byDigest[head.weaker ? 1 : 0].remove(head.digest, id);
    } else {
      this.#refused.delete(refusedKey(head));
    }
    this.#known[id] = undefined;
    this.#ids.give(id);
  }

  #letGo(known: KnownHead, policyClass: PolicyClass): void {
    if (known.others?.delete(policyClass) || known.holder !== policyClass) {
      return;
    }
    const next = known.others === undefined ? undefined : firstOf(known.others);
    known.holder = next;
    if (next === undefined) {
      known.former = policyClass;
      this.#unheld.push(known);
    } else {
      known.others?.delete(next);
    }
  }
}

function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) {
    return item;
  }
  return undefined;
}

function refusedKey({ mode, weaker, reason }: RefusedHead): string {
  return `${mode} ${weaker} ${reason}`;
}

function toHex(binary: string): string {
  return Buffer.from(binary, "latin1").toString("hex");
}
