import { create, toBinary } from "@bufbuild/protobuf";
import { EffectFailed, Mutex, parallel, sampledTrace, type Task } from "@ringwall/actor";
import type { Configuration } from "@ringwall/render";
import {
  type ChangeList,
  type CommitRequest,
  type CommitResponse,
  type ConfigCommit,
  ConfigCommitSchema,
  ConfigRecordSchema,
  type Inputs,
  InputsSchema,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { count, type KeeperContext, log } from "../context.ts";
import { append } from "../log/append.ts";
import { fromHex, toHex } from "../log/hex.ts";
import { highestOf } from "../log/inputs.ts";
import { PART_BYTES } from "../log/parts.ts";
import type { Admission } from "./admission.ts";
import type { BlobStore } from "./blob-store.ts";
import { accepted, checkRequest, conflict, fileName, rejected } from "./commit-answers.ts";
import { changeListBytes, commitId, readChangeList, storedChange } from "./commit-codec.ts";
import type { CommitEntry } from "./config-log.ts";
import type { ConfigReader } from "./config-reader.ts";
import { type ProposedChange, proposedChange } from "./proposed-change.ts";
import { commitInputs } from "./summaries.ts";
import { treeDigest } from "./tree-digest.ts";

/** Attempts when records that are no commits come in between. */
const ATTEMPTS = 8;

/** Reads that wait for the bus at the same time. */
const READS_AT_ONCE = 32;

/** What a committer works with. */
export interface CommitterParts {
  readonly context: KeeperContext;
  readonly reader: ConfigReader;
  readonly blobs: BlobStore;
  readonly admission: Admission;
  /** Why no commit may be made now; undefined if it may. */
  readonly heldReason: () => string | undefined;
  /** Hears of a tree that was admitted, so that the head need not be checked again. */
  readonly admitted: (treeSha256: string, configuration: Configuration) => void;
  /** The configuration of the head, if it was admitted. */
  readonly admittedHead: () => Configuration | undefined;
}

/** Where a request came from, and when. */
interface Origin {
  readonly trace: string | undefined;
  readonly sinceUnixMs: number;
}

/** What a commit builds on. */
interface Base {
  readonly head: CommitEntry | undefined;
  readonly sequence: number;
  readonly generation: bigint;
}

/**
 * Makes commits, one after the other on this instance. Between instances the fence of CONFIG's
 * subject decides; whoever loses it looks at the new head and answers with who, when and what.
 */
export class Committer {
  readonly #parts: CommitterParts;
  readonly #mutex: Mutex;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
    this.#mutex = new Mutex(parts.context.tasks, "commit");
  }

  /** Answers a commit request; throws ApiFailure and EffectFailed. */
  commit(request: CommitRequest, trace?: string): Task<CommitResponse> {
    const origin = { trace, sinceUnixMs: this.#parts.context.moment().wallMs };
    return this.#mutex.hold(() => this.#commit(request, origin));
  }

  *#commit(request: CommitRequest, origin: Origin): Task<CommitResponse> {
    const { context, reader } = this.#parts;
    checkRequest(request);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      yield* reader.catchUp();
      try {
        return yield* this.#attempt(request, origin);
      } catch (error) {
        if (!(error instanceof EffectFailed && error.code === "fence-lost")) {
          throw error;
        }
        count(context, "ringwall_commit_fence_lost_total");
      }
    }
    const message = `other records came in between ${ATTEMPTS} times; try again`;
    throw new ApiFailure("unavailable", message);
  }

  *#attempt(request: CommitRequest, origin: Origin): Task<CommitResponse> {
    const { context, reader, admission } = this.#parts;
    const config = reader.log;
    const base: Base = {
      head: config.head,
      sequence: config.lastSequence,
      generation: config.generation,
    };
    this.#checkEnvironment(request.environment);
    if (toHex(request.expectedParent) !== (base.head?.id ?? "")) {
      count(context, "ringwall_commit_conflicts_total");
      return conflict(config, request);
    }
    const held = this.#parts.heldReason();
    if (held !== undefined) {
      throw new ApiFailure("held", `the control plane is held: ${held}`);
    }
    const list = yield* this.#changeList(request);
    const proposed = proposedChange(list.puts, list.deletes, config.tree);
    yield* this.#checkBlobs(proposed);
    const before = base.head?.ledgerSha256 ?? "";
    const ledger = toHex(request.ledgerSha256) || before;
    if (ledger !== before) {
      yield* this.#checkLedger(ledger);
    }
    const result = yield* admission.check(proposed.files, this.#parts.admittedHead());
    if (result.kind === "unreadable") {
      throw new ApiFailure("unavailable", `the tree can't be read: ${result.detail}`);
    }
    if (result.kind === "refused") {
      return rejected(result.findings);
    }
    const { puts, deletes } = proposed.change;
    const changes = puts.length > 0 || deletes.length > 0 || ledger !== before;
    const unchanged = base.head !== undefined && !changes;
    if (unchanged || request.dryRun) {
      const inputs = base.head === undefined ? undefined : commitInputs(config, base.head);
      return accepted(inputs, unchanged, result.warnings);
    }
    const commit = yield* this.#build(request, proposed, ledger, base);
    const inputs = yield* this.#store(commit, base, result.configuration, origin);
    return accepted(inputs, false, result.warnings);
  }

  *#store(commit: ConfigCommit, base: Base, admitted: Configuration, origin: Origin): Task<Inputs> {
    const { context, reader } = this.#parts;
    const own = sampledTrace(origin.trace, context.traceRatio, context.moment().random);
    const record = create(ConfigRecordSchema, { record: { case: "commit", value: commit } });
    const sequence = yield* append({
      stream: "CONFIG",
      subject: context.names.configCommit,
      payload: toBinary(ConfigRecordSchema, record),
      headers: { "Rw-Type": "ConfigRecord" },
      fence: { sequence: base.sequence, write: context.nextWrite() },
      ...(own === undefined ? {} : { trace: own }),
    });
    // The fence fits by chance in a log that went back and grew again; what counts is what is read.
    yield* reader.reach(sequence);
    if (reader.log.bySequence(sequence)?.id !== toHex(commit.id)) {
      const detail = `CONFIG went back: its record ${sequence} does not follow the head`;
      throw new EffectFailed("append", "fence-lost", detail);
    }
    this.#parts.admitted(toHex(commit.treeSha256), admitted);
    if (own !== undefined) {
      this.#span(commit, sequence, origin, own);
    }
    count(context, "ringwall_commits_total");
    log(context, "info", "a commit is stored", { sequence, author: commit.author }, own);
    return create(InputsSchema, {
      generation: highestOf([commit.generation, base.generation]),
      configSequence: BigInt(sequence),
      commitId: commit.id,
    });
  }

  #span(commit: ConfigCommit, sequence: number, origin: Origin, trace: string): void {
    const { outbox, moment } = this.#parts.context;
    outbox.add({
      kind: "span",
      name: "commit",
      trace,
      ...(origin.trace === undefined ? {} : { parent: origin.trace }),
      startUnixMs: origin.sinceUnixMs,
      endUnixMs: moment().wallMs,
      attributes: {
        "ringwall.commit": toHex(commit.id),
        "ringwall.config_sequence": sequence,
        "ringwall.puts": commit.puts.length,
        "ringwall.deletes": commit.deletes.length,
      },
    });
  }

  #checkEnvironment(wanted: string): void {
    const { context, reader } = this.#parts;
    const served = reader.log.environment || context.environment;
    if (served !== context.environment) {
      const message = `this control plane serves environment "${served}", this service was started for "${context.environment}"`;
      throw new ApiFailure("wrong_environment", message);
    }
    if (wanted !== served) {
      const message = `this control plane serves environment "${served}", the commit is for "${wanted}"`;
      throw new ApiFailure("wrong_environment", message);
    }
  }

  *#changeList(request: CommitRequest): Task<Pick<ChangeList, "puts" | "deletes">> {
    if (request.changesBlob.length === 0) {
      return request;
    }
    if (request.puts.length > 0 || request.deletes.length > 0) {
      const message = "the commit has changes and a blob of changes; send one of them";
      throw new ApiFailure("invalid", message);
    }
    const sha256 = toHex(request.changesBlob);
    const reading = yield* this.#parts.blobs.read(sha256);
    if (!reading.ok) {
      throw new ApiFailure("invalid", `the blob of changes ${sha256} ${reading.problem}`);
    }
    try {
      return readChangeList(reading.bytes);
    } catch {
      throw new ApiFailure("invalid", `the blob of changes ${sha256} is no ChangeList`);
    }
  }

  *#checkBlobs(proposed: ProposedChange): Task<void> {
    const { context, blobs } = this.#parts;
    yield* parallel(context.tasks, proposed.change.puts, READS_AT_ONCE, function* (file) {
      const reading = yield* blobs.read(file.sha256);
      if (!reading.ok) {
        throw new ApiFailure(
          "invalid",
          `blob ${file.sha256} of ${fileName(file)} ${reading.problem}`,
        );
      }
      if (reading.bytes.length !== file.size) {
        const message = `${fileName(file)} is said to have ${file.size} bytes, its blob has ${reading.bytes.length}`;
        throw new ApiFailure("invalid", message);
      }
    });
  }

  *#checkLedger(sha256: string): Task<void> {
    const reading = yield* this.#parts.blobs.read(sha256);
    if (!reading.ok) {
      throw new ApiFailure("invalid", `the ledger's blob ${sha256} ${reading.problem}`);
    }
  }

  *#build(
    request: CommitRequest,
    proposed: ProposedChange,
    ledger: string,
    base: Base,
  ): Task<ConfigCommit> {
    const { context, blobs } = this.#parts;
    const { wallMs } = context.moment();
    const treeSha256 = yield* treeDigest(proposed.files);
    const commit = create(ConfigCommitSchema, {
      parent: fromHex(base.head?.id ?? ""),
      author: request.author,
      message: request.message,
      timeUnixMs: BigInt(Math.trunc(wallMs)),
      treeSha256,
      ledgerSha256: fromHex(ledger),
      ...storedChange(proposed.change),
    });
    if (base.head === undefined) {
      commit.generation = highestOf([BigInt(Math.trunc(wallMs)), base.generation]);
      commit.environment = context.environment;
    }
    if (toBinary(ConfigCommitSchema, commit).length > PART_BYTES - 1_024) {
      const list = changeListBytes({ puts: commit.puts, deletes: commit.deletes });
      commit.changesBlob = fromHex(yield* blobs.write(list));
      commit.puts = [];
      commit.deletes = [];
    }
    commit.id = commitId(commit);
    return commit;
  }
}
