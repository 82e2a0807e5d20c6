import { create } from "@bufbuild/protobuf";
import { readAt, slice, type Task } from "@ringwall/actor";
import { partitionOf } from "@ringwall/bus";
import { describe, diff } from "@ringwall/rendered";
import {
  type HistoryEntry,
  HistoryEntrySchema,
  type ListHistoryRequest,
  type ListHistoryResponse,
  ListHistoryResponseSchema,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import type { ContentStore } from "../content/content-store.ts";
import { fromHex } from "../log/hex.ts";
import { PART_BYTES } from "../log/parts.ts";
import { HISTORY_VERSIONS } from "../versions/history-index.ts";
import type { VersionLog } from "../versions/version-log.ts";
import { type PastVersion, pastVersion } from "./past-version.ts";

/** Bytes of an entry besides the words of its changes. */
const ENTRY_BYTES = 256;

/**
 * Answers `policy.history`: the versions that the log still holds, newest first, each with what
 * changed, computed from the bodies when somebody asks.
 */
export class VersionHistory {
  readonly #versions: VersionLog;
  readonly #content: ContentStore;

  constructor(versions: VersionLog, content: ContentStore) {
    this.#versions = versions;
    this.#content = content;
  }

  /** Answers the operation; throws ApiFailure and EffectFailed. */
  *list(request: ListHistoryRequest): Task<ListHistoryResponse> {
    const { workload } = request;
    const log = this.#versions.partition(partitionOf(workload));
    if (!log.heads.has(workload)) {
      throw new ApiFailure("not_found", `workload ${workload} has no version`);
    }
    const limit = Math.min(request.limit || HISTORY_VERSIONS, HISTORY_VERSIONS);
    const entries: HistoryEntry[] = [];
    let bytes = 0;
    for (const sequence of log.history.newestFirst(workload).slice(0, limit)) {
      const record = yield* readAt("VERSIONS", sequence);
      const past = record === undefined ? undefined : pastVersion(record, workload);
      if (past === undefined) {
        break;
      }
      const entry = storedEntry(past);
      const { changes, note } = yield* this.#changes(past);
      const size = changes.reduce((sum, line) => sum + Buffer.byteLength(line) + 4, 0);
      if (bytes + size <= PART_BYTES) {
        entry.changes = changes;
        entry.note = note;
        bytes += size;
      } else {
        entry.note = `${changes.length} changes do not fit the answer; list fewer versions`;
      }
      bytes += ENTRY_BYTES;
      entries.push(entry);
      yield* slice();
    }
    return create(ListHistoryResponseSchema, { entries });
  }

  *#changes(past: PastVersion): Task<{ changes: string[]; note: string }> {
    if (past.digest === "") {
      return { changes: [], note: "removed" };
    }
    if (past.digest === past.fromDigest) {
      return { changes: [], note: "an agent's claim contradicted the log; the body is the same" };
    }
    const after = yield* this.#content.policy(past.digest, past.version, false);
    const before =
      past.fromDigest === ""
        ? undefined
        : yield* this.#content.policy(past.fromDigest, past.fromVersion, false);
    if (!after.ok || before?.ok === false) {
      return { changes: [], note: "content no longer kept" };
    }
    const changes = diff(before?.policy, after.policy).map(describe);
    return { changes, note: "" };
  }
}

function storedEntry(past: PastVersion): HistoryEntry {
  const { epoch, fromVersion, version, digest, inputs, timeUnixMs } = past;
  const entry = create(HistoryEntrySchema, {
    epoch,
    fromVersion: BigInt(fromVersion),
    version: BigInt(version),
    digest: fromHex(digest),
    timeUnixMs,
  });
  if (inputs !== undefined) {
    entry.inputs = inputs;
  }
  return entry;
}
