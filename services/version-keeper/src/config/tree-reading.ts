import { create } from "@bufbuild/protobuf";
import { slice, type Task } from "@ringwall/actor";
import {
  type FilePut,
  type GetTreeRequest,
  type GetTreeResponse,
  GetTreeResponseSchema,
  type ListCommitsRequest,
  type ListCommitsResponse,
  ListCommitsResponseSchema,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import type { KeeperContext } from "../context.ts";
import { fromHex, toHex } from "../log/hex.ts";
import { PART_BYTES } from "../log/parts.ts";
import { storedFile } from "./commit-codec.ts";
import type { CommitEntry, ConfigLog } from "./config-log.ts";
import type { ConfigReader } from "./config-reader.ts";
import { compareBytes } from "./file-order.ts";
import { type FileEntry, LiveTree } from "./live-tree.ts";
import { commitSummary } from "./summaries.ts";

const DEFAULT_FILES = 2_000;
const DEFAULT_COMMITS = 50;
const MOST_COMMITS = 1_000;

/** Bytes of an entry besides its path: digest, size, tags. */
const FILE_BYTES = 64;

/** Changes folded in one step when an older tree is put together. */
const CHANGES_PER_STEP = 10_000;

/** Reads the live tree as it is now, or as it was at an earlier commit. */
export class TreeReading {
  readonly #context: KeeperContext;
  readonly #reader: ConfigReader;
  /** The older tree that was read last: pages of one reading follow each other. */
  #older: { readonly commit: CommitEntry; readonly files: readonly FileEntry[] } | undefined;

  constructor(context: KeeperContext, reader: ConfigReader) {
    this.#context = context;
    this.#reader = reader;
  }

  /** Answers `config.tree`. */
  *tree(request: GetTreeRequest): Task<GetTreeResponse> {
    yield* this.#reader.catchUp();
    const { log } = this.#reader;
    const environment = log.environment || this.#context.environment;
    const id = toHex(request.commitId);
    const commit = id === "" ? log.head : log.byId(id);
    if (commit === undefined) {
      if (id === "") {
        return create(GetTreeResponseSchema, { environment });
      }
      throw new ApiFailure("not_found", `CONFIG has no commit ${id}`);
    }
    const files = commit === log.head ? log.tree.sorted() : yield* this.#olderFiles(log, commit);
    const page = pageOf(files, request.after, request.limit || DEFAULT_FILES);
    return create(GetTreeResponseSchema, {
      commit: commitSummary(log, commit),
      environment,
      files: page.files,
      more: page.more,
      ledgerSha256: fromHex(commit.ledgerSha256),
    });
  }

  /** Answers `config.commits`. */
  *commits(request: ListCommitsRequest): Task<ListCommitsResponse> {
    yield* this.#reader.catchUp();
    const { log } = this.#reader;
    const limit = Math.min(request.limit || DEFAULT_COMMITS, MOST_COMMITS);
    const before = Number(request.beforeSequence) || Number.POSITIVE_INFINITY;
    const end = log.commits.findLastIndex(({ sequence }) => sequence < before) + 1;
    const start = Math.max(0, end - limit);
    let bytes = 0;
    const commits = [];
    for (const commit of log.commits.slice(start, end).reverse()) {
      bytes += 3 * (commit.author.length + commit.message.length) + 128;
      if (bytes > PART_BYTES && commits.length > 0) {
        break;
      }
      commits.push(commitSummary(log, commit));
    }
    return create(ListCommitsResponseSchema, { commits, more: end - commits.length > 0 });
  }

  *#olderFiles(log: ConfigLog, commit: CommitEntry): Task<readonly FileEntry[]> {
    if (this.#older?.commit === commit) {
      return this.#older.files;
    }
    const tree = new LiveTree();
    let changes = 0;
    for (const earlier of log.commits) {
      tree.apply(earlier.change);
      if (earlier === commit) {
        break;
      }
      changes += earlier.change.puts.length + earlier.change.deletes.length + 1;
      if (changes >= CHANGES_PER_STEP) {
        changes = 0;
        yield* slice();
      }
    }
    const files = tree.sorted();
    this.#older = { commit, files };
    return files;
  }
}

interface Page {
  readonly files: FilePut[];
  readonly more: boolean;
}

function pageOf(files: readonly FileEntry[], after: string, limit: number): Page {
  let next = after === "" ? 0 : firstAfter(files, after);
  const page: FilePut[] = [];
  for (let bytes = 0; page.length < limit; next += 1) {
    const file = files[next];
    bytes += FILE_BYTES + (file === undefined ? 0 : Buffer.byteLength(file.path));
    if (file === undefined || (bytes > PART_BYTES && page.length > 0)) {
      break;
    }
    page.push(storedFile(file));
  }
  return { files: page, more: next < files.length };
}

/** Index of the first file behind a key, by halving. */
function firstAfter(files: readonly FileEntry[], key: string): number {
  let low = 0;
  let high = files.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const file = files[middle];
    if (file !== undefined && compareBytes(file.key, key) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
