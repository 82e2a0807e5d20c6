import assert from "node:assert/strict";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type BodyChanges,
  type BodyStep,
  Engine,
  type EngineSizes,
  type Head,
  type SourceChange,
} from "@ringwall/render";
import { apply, assemble, diff, equal } from "@ringwall/rendered";
import { PolicyDeltaSchema } from "@ringwall/wire";
import { assertSameObjects, type Expected, headOf } from "./expected.ts";

type Objects = ReadonlyMap<string, Uint8Array>;

/** An engine with everything that its flushes said, held against what was expected. */
export class EngineRun {
  readonly #engine = new Engine();
  readonly #heads = new Map<string, Head>();
  /** Objects of each body that is in force. */
  #bodies = new Map<string, Objects>();

  apply(changes: readonly SourceChange[]): void {
    this.#engine.apply(changes);
  }

  /** Flushes; between slices what was in force before must still be readable. */
  flush(): BodyChanges {
    this.#engine.begin();
    for (;;) {
      const changes = this.#engine.work();
      if (changes !== undefined) {
        this.#take(changes);
        return changes;
      }
      for (const [digest, objects] of this.#bodies) {
        assertSameObjects(this.#objectsOf(digest), objects);
      }
    }
  }

  /** Fails unless every head and every object is what was expected. */
  check({ bodies, skippedRows }: Expected, changes: BodyChanges): void {
    assert.equal(changes.skippedRows, skippedRows, "skipped rows");
    assert.deepEqual([...this.#heads.keys()].sort(), [...bodies.keys()].sort(), "workloads");
    for (const [id, body] of bodies) {
      assert.deepEqual({ ...this.#heads.get(id) }, headOf(body), `head of ${id}`);
      assertSameObjects(this.#bodies.get(body.digest) ?? new Map(), body.objects);
    }
  }

  /** Fails unless every head is what the full render gave. */
  checkDigests(digests: ReadonlyMap<string, string>): void {
    assert.deepEqual([...this.#heads.keys()].sort(), [...digests.keys()].sort(), "workloads");
    for (const [id, digest] of digests) {
      const head = this.#heads.get(id);
      assert.equal(head?.kind === "body" ? head.digest : head?.reason, digest, `head of ${id}`);
    }
  }

  /** Numbers of what the engine holds. */
  sizes(): EngineSizes {
    return this.#engine.sizes();
  }

  #take(changes: BodyChanges): void {
    const before = this.#bodies;
    for (const id of changes.removed) {
      assert(this.#heads.delete(id), `${id} was removed but unknown`);
    }
    for (const step of changes.steps) {
      for (const id of step.workloads) {
        assert.deepEqual(this.#heads.get(id), step.from, `step of ${id} begins elsewhere`);
        assert.notDeepEqual(step.from, step.to, `step of ${id} leads nowhere`);
        this.#heads.set(id, step.to);
      }
    }
    this.#bodies = new Map();
    for (const head of this.#heads.values()) {
      if (head.kind === "body" && !this.#bodies.has(head.digest)) {
        this.#bodies.set(head.digest, this.#objectsOf(head.digest));
      }
    }
    for (const step of changes.steps) {
      this.#checkDelta(step, before);
    }
  }

  #checkDelta(step: BodyStep, before: ReadonlyMap<string, Objects>): void {
    if (step.from?.kind !== "body" || step.to.kind !== "body") {
      assert.equal(step.delta(), undefined);
      return;
    }
    const from = policyOf(step.from.digest, before);
    const to = policyOf(step.to.digest, this.#bodies);
    const bytes = step.delta() ?? new Uint8Array();
    const delta = fromBinary(PolicyDeltaSchema, bytes);
    const wanted = toBinary(PolicyDeltaSchema, { ...delta, changes: diff(from, to) });
    assert(Buffer.from(bytes).equals(wanted), "bytes of a delta");
    assert(equal(apply(from, delta), to), "a delta leads elsewhere");
  }

  #objectsOf(digest: string): Objects {
    const objects = new Map<string, Uint8Array>();
    for (const each of this.#engine.objectsOf(digest)) {
      objects.set(each, this.#engine.object(each) ?? assert.fail(`object ${each} is missing`));
    }
    return objects;
  }
}

function policyOf(digest: string, bodies: ReadonlyMap<string, Objects>) {
  const objects = bodies.get(digest) ?? assert.fail(`body ${digest} is missing`);
  const manifest = objects.get(digest) ?? assert.fail(`manifest ${digest} is missing`);
  return assemble(manifest, (each) => objects.get(each), 0n);
}
