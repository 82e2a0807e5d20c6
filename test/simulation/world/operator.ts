import { hash } from "node:crypto";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Effect, Message, Reducer } from "@ringwall/actor";
import { type Names, partitionOf } from "@ringwall/bus";
import {
  AcceptStateRequestSchema,
  AcceptStateResponseSchema,
  CommitRequestSchema,
  CommitResponseSchema,
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
  type FilePut,
  type Finding,
  GetTreeRequestSchema,
  GetTreeResponseSchema,
  type Inputs,
  Layer,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { hex } from "../check/hex.ts";
import { type Declaration, ENVIRONMENT, type EstateFile } from "../schedule/estate.ts";

const TIMEOUT_MS = 5000;
const RETRY_MS = 400;
const HELD_RETRY_MS = 3000;
const ATTEMPTS = 40;

/** Something that an operator or an adapter wants. */
export type Wish =
  /** `whole`: they are the whole tree, which admission has no reason to refuse. */
  | { readonly kind: "files"; readonly files: readonly EstateFile[]; readonly whole?: true }
  | { readonly kind: "declare"; readonly declaration: Declaration }
  | { readonly kind: "deregister"; readonly workload: string }
  /** `commits` is how many the configuration holds by the operator's eyes. */
  | { readonly kind: "accept"; readonly commits: () => number };

/** What the control plane has promised by its answer. */
export interface OperatorWatcher {
  asked(wish: Wish): void;
  committed(files: readonly EstateFile[], inputs: Inputs | undefined): void;
  rejected(findings: readonly Finding[]): void;
  declared(declaration: Declaration): void;
  deregistered(workload: string): void;
}

type Script = Generator<Effect, void, Message>;

/** One operator, or adapter: does one thing after the other, and tries again until it has an answer. */
export class Operator implements Reducer {
  readonly #names: Names;
  readonly #watcher: OperatorWatcher;
  #wishes: Wish[] = [];
  /** True if the last attempt was refused because the control plane is held. */
  #held = false;
  #running: Script | undefined;
  #tag = "";
  #tags = 0;

  constructor(names: Names, watcher: OperatorWatcher) {
    this.#names = names;
    this.#watcher = watcher;
  }

  /** True if nothing is wanted any more. */
  get idle(): boolean {
    return this.#running === undefined && this.#wishes.length === 0;
  }

  /** Puts a wish in line; one for the same workload that waits is replaced. The actor must be woken. */
  wish(wish: Wish): void {
    const workload = workloadOf(wish);
    if (workload !== undefined) {
      this.#wishes = this.#wishes.filter((other) => workloadOf(other) !== workload);
    }
    this.#wishes.push(wish);
  }

  /** Gives up what waits. */
  clear(): void {
    this.#wishes = [];
  }

  step(message: Message): readonly Effect[] {
    const tag = "tag" in message ? message.tag : message.kind === "timer" ? message.id : undefined;
    if (this.#running !== undefined) {
      return tag === this.#tag ? this.#resume(this.#running, message) : [];
    }
    return this.#begin();
  }

  #begin(): readonly Effect[] {
    const wish = this.#wishes.shift();
    if (wish === undefined) {
      return [];
    }
    this.#watcher.asked(wish);
    this.#running = this.#script(wish);
    return this.#resume(this.#running, { kind: "start" });
  }

  #resume(script: Script, message: Message): readonly Effect[] {
    const result = script.next(message);
    if (result.done === true) {
      this.#running = undefined;
      return this.#begin();
    }
    return [result.value];
  }

  *#script(wish: Wish): Script {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (yield* this.#attempt(wish)) {
        return;
      }
      yield* this.#pause();
    }
  }

  #attempt(wish: Wish): Generator<Effect, boolean, Message> {
    switch (wish.kind) {
      case "files":
        return this.#commit(wish.files, wish.whole === true);
      case "declare":
        return this.#declare(wish.declaration);
      case "deregister":
        return this.#deregister(wish.workload);
      case "accept":
        return this.#accept(wish.commits());
    }
  }

  *#commit(files: readonly EstateFile[], whole: boolean): Generator<Effect, boolean, Message> {
    const tree = yield* this.#call(
      this.#names.api("config", "tree"),
      GetTreeRequestSchema,
      GetTreeResponseSchema,
      { limit: 1000 },
    );
    // A configuration without a commit has no tree yet.
    if (tree === undefined || (tree.error !== undefined && tree.error.code !== "not_found")) {
      return false;
    }
    const { puts, deletes } = changesAgainst(tree.files, files);
    // Who has the whole tree puts back what the store has lost of it.
    const texts = whole ? files.flatMap(({ text }) => text ?? []) : puts.map(({ text }) => text);
    for (const text of texts) {
      if (!(yield* this.#put(text))) {
        return false;
      }
    }
    if (puts.length === 0 && deletes.length === 0) {
      this.#watcher.committed(files, tree.commit?.inputs);
      return true;
    }
    const answer = yield* this.#call(
      this.#names.api("config", "commit"),
      CommitRequestSchema,
      CommitResponseSchema,
      {
        expectedParent: new Uint8Array(tree.commit?.inputs?.commitId ?? []),
        author: "operator",
        message: "change",
        environment: ENVIRONMENT,
        puts: puts.map(({ text, ...file }) => {
          const { data, sha256 } = blobOf(text);
          return { ...wireFile(file), sha256, size: BigInt(data.length) };
        }),
        deletes: deletes.map(wireFile),
      },
    );
    if (answer?.result.case === "accepted") {
      this.#watcher.committed(files, answer.result.value.inputs);
      return true;
    }
    if (answer?.result.case === "rejected") {
      if (whole) {
        this.#watcher.rejected(answer.result.value.findings);
      }
      return true;
    }
    this.#held = answer?.result.case === "error" && answer.result.value.code === "held";
    return false;
  }

  *#put(text: string): Generator<Effect, boolean, Message> {
    const { data, sha256 } = blobOf(text);
    const answer = yield* this.#call(
      this.#names.api("config", "blob"),
      PutBlobRequestSchema,
      PutBlobResponseSchema,
      { sha256, index: 0, count: 1, data },
    );
    return answer !== undefined && answer.error === undefined;
  }

  *#declare(declaration: Declaration): Generator<Effect, boolean, Message> {
    const { workload, labels, addresses, services } = declaration;
    const answer = yield* this.#call(
      this.#names.api("workload", "report", partitionOf(workload)),
      ReportWorkloadRequestSchema,
      ReportWorkloadResponseSchema,
      {
        id: workload,
        source: WorkloadSource.INVENTORY,
        namespace: "shop",
        labels: { ...labels },
        addresses: [...addresses],
        services: [...services],
      },
    );
    if (answer === undefined || answer.error !== undefined) {
      return false;
    }
    this.#watcher.declared(declaration);
    return true;
  }

  *#deregister(workload: string): Generator<Effect, boolean, Message> {
    const answer = yield* this.#call(
      this.#names.api("workload", "deregister", partitionOf(workload)),
      DeregisterWorkloadRequestSchema,
      DeregisterWorkloadResponseSchema,
      { id: workload },
    );
    if (answer === undefined || answer.error !== undefined) {
      return false;
    }
    this.#watcher.deregistered(workload);
    return true;
  }

  *#accept(commits: number): Generator<Effect, boolean, Message> {
    const answer = yield* this.#call(
      this.#names.api("config", "accept"),
      AcceptStateRequestSchema,
      AcceptStateResponseSchema,
      { expect: BigInt(commits), author: "operator" },
    );
    // "refused" says that nothing is to be accepted; a wrong count is looked up anew by the caller.
    const code = answer?.error?.code;
    return (
      answer !== undefined && (code === undefined || code === "refused" || code === "conflict")
    );
  }

  *#call<Request extends DescMessage, Response extends DescMessage>(
    subject: string,
    requestSchema: Request,
    responseSchema: Response,
    request: MessageInitShape<Request>,
  ): Generator<Effect, MessageShape<Response> | undefined, Message> {
    const payload = toBinary(requestSchema, create(requestSchema, request));
    const tag = this.#nextTag();
    const answer = yield { kind: "request", tag, subject, payload, timeoutMs: TIMEOUT_MS };
    return answer.kind === "response" ? fromBinary(responseSchema, answer.payload) : undefined;
  }

  *#pause(): Generator<Effect, void, Message> {
    const delayMs = this.#held ? HELD_RETRY_MS : RETRY_MS;
    this.#held = false;
    yield { kind: "timer", id: this.#nextTag(), delayMs };
  }

  #nextTag(): string {
    this.#tags += 1;
    this.#tag = `op.${this.#tags}`;
    return this.#tag;
  }
}

interface Blob {
  readonly data: Uint8Array<ArrayBuffer>;
  readonly sha256: Uint8Array<ArrayBuffer>;
  readonly hex: string;
}

/** Facts about texts hold for every seed of a process. */
const blobs = new Map<string, Blob>();

function blobOf(text: string): Blob {
  let blob = blobs.get(text);
  if (blob === undefined) {
    const data = new TextEncoder().encode(text);
    const hex = hash("sha256", data);
    blob = { data, sha256: new Uint8Array(Buffer.from(hex, "hex")), hex };
    blobs.set(text, blob);
  }
  return blob;
}

interface Placed {
  readonly layer: EstateFile["layer"];
  readonly path: string;
}

function changesAgainst(
  live: readonly FilePut[],
  wanted: readonly EstateFile[],
): { puts: (Placed & { text: string })[]; deletes: Placed[] } {
  const held = new Map(
    live.map(({ layer, path, sha256: digest }) => [`${layer} ${path}`, hex(digest)]),
  );
  const puts: (Placed & { text: string })[] = [];
  const deletes: Placed[] = [];
  for (const { layer, path, text } of wanted) {
    const digest = held.get(`${wireFile({ layer, path }).layer} ${path}`);
    if (text === undefined) {
      if (digest !== undefined) {
        deletes.push({ layer, path });
      }
    } else if (digest !== blobOf(text).hex) {
      puts.push({ layer, path, text });
    }
  }
  return { puts, deletes };
}

function wireFile({ layer, path }: Placed): { layer: Layer; path: string } {
  return { layer: layer === "core" ? Layer.CORE : Layer.ENVIRONMENT, path };
}

function workloadOf(wish: Wish): string | undefined {
  switch (wish.kind) {
    case "declare":
      return wish.declaration.workload;
    case "deregister":
      return wish.workload;
    default:
      return undefined;
  }
}
