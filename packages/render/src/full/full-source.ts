import { type Canonical, content, references } from "@ringwall/rendered";
import type { WorkloadPolicy } from "@ringwall/wire";
import type { BodyChanges, BodySource, Head, SourceChange } from "../body-source.ts";
import type { Configuration, WorkloadSpec } from "../model.ts";
import { refusalText } from "./refusal.ts";
import { type Outcome, type Rendering, renderSteps } from "./render-steps.ts";

const EMPTY: Configuration = {
  rulesets: [],
  services: [],
  addressGroups: [],
  routes: [],
  inventory: [],
};

/** Bodies encoded between two yields. */
const BODIES_PER_STEP = 50;

interface Flushed {
  readonly changes: BodyChanges;
  readonly heads: ReadonlyMap<string, Head>;
  readonly objects: ReadonlyMap<string, Uint8Array>;
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** A body source that renders the whole estate on every flush and nets out against the one before. */
export class FullSource implements BodySource {
  #configuration: Configuration = EMPTY;
  readonly #workloads = new Map<string, WorkloadSpec>();
  #running: Generator<void, Flushed> | undefined;
  #heads: ReadonlyMap<string, Head> = new Map();
  #objects: ReadonlyMap<string, Uint8Array> = new Map();
  #members: ReadonlyMap<string, readonly string[]> = new Map();

  apply(changes: Iterable<SourceChange>): void {
    for (const change of changes) {
      switch (change.kind) {
        case "configuration":
          this.#configuration = change.configuration;
          break;
        case "workload":
          this.#workloads.set(change.workload.id, change.workload);
          break;
        case "removal":
          this.#workloads.delete(change.id);
          break;
      }
    }
  }

  begin(): void {
    this.#running ??= flushSteps(this.#configuration, [...this.#workloads.values()], {
      heads: this.#heads,
      objects: this.#objects,
    });
  }

  work(): BodyChanges | undefined {
    const step = this.#running?.next();
    if (step === undefined || !step.done) {
      return undefined;
    }
    this.#running = undefined;
    const { changes, heads, objects, members } = step.value;
    this.#heads = heads;
    this.#objects = objects;
    this.#members = members;
    return changes;
  }

  progress() {
    return { phase: "rendering" as const, done: 0, total: 0 };
  }

  objectsOf(digest: string): readonly string[] {
    return this.#members.get(digest) ?? [];
  }

  object(digest: string): Uint8Array | undefined {
    return this.#objects.get(digest);
  }
}

interface Before {
  readonly heads: ReadonlyMap<string, Head>;
  readonly objects: ReadonlyMap<string, Uint8Array>;
}

function* flushSteps(
  configuration: Configuration,
  workloads: readonly WorkloadSpec[],
  before: Before,
): Generator<void, Flushed> {
  const { renderings, skippedRows } = yield* renderSteps(configuration, workloads);
  const encoder = new Encoder(before.objects);
  const heads = new Map<string, Head>();
  const changed = new Map<string, Head>();
  for (const [id, rendering] of renderings) {
    const encoded = encoder.encoded;
    const head = encoder.head(rendering);
    heads.set(id, head);
    if (!sameHead(before.heads.get(id), head)) {
      changed.set(id, head);
    }
    if (encoder.encoded !== encoded && encoder.encoded % BODIES_PER_STEP === 0) {
      yield;
    }
  }
  const removed = [...before.heads.keys()].filter((id) => !heads.has(id));
  const changes = { steps: [], heads: changed, removed, skippedRows };
  return { changes, heads, objects: encoder.objects, members: encoder.members };
}

/** Encodes each distinct body once and takes over the bytes of objects that are known. */
class Encoder {
  readonly #known: ReadonlyMap<string, Uint8Array>;
  readonly #heads = new Map<Outcome, Map<boolean, Head>>();
  readonly objects = new Map<string, Uint8Array>();
  readonly members = new Map<string, readonly string[]>();
  encoded = 0;

  constructor(known: ReadonlyMap<string, Uint8Array>) {
    this.#known = known;
  }

  head({ outcome, mode, weaker }: Rendering): Head {
    let heads = this.#heads.get(outcome);
    if (heads === undefined) {
      heads = new Map();
      this.#heads.set(outcome, heads);
    }
    let head = heads.get(weaker);
    if (head === undefined) {
      head =
        "policy" in outcome
          ? { kind: "body", digest: this.#encode(outcome.policy), mode, weaker }
          : { kind: "refused", reason: refusalText(outcome.refused), mode, weaker };
      heads.set(weaker, head);
    }
    return head;
  }

  #encode(policy: Canonical<WorkloadPolicy>): string {
    this.encoded += 1;
    const { digest, objects } = content(policy, (each) => this.#take(each));
    for (const [each, bytes] of objects) {
      this.objects.set(each, bytes);
    }
    const manifest = this.objects.get(digest);
    if (manifest !== undefined && !this.members.has(digest)) {
      this.members.set(digest, [digest, ...references(manifest)]);
    }
    return digest;
  }

  /** True if the object's bytes are at hand already; keeps them for this flush. */
  #take(digest: string): boolean {
    const bytes = this.#known.get(digest);
    if (bytes !== undefined) {
      this.objects.set(digest, bytes);
    }
    return this.objects.has(digest);
  }
}

function sameHead(a: Head | undefined, b: Head): boolean {
  return (
    a !== undefined &&
    a.kind === b.kind &&
    a.mode === b.mode &&
    a.weaker === b.weaker &&
    (a.kind === "body" ? a.digest : a.reason) === (b.kind === "body" ? b.digest : b.reason)
  );
}
