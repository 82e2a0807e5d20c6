import { create } from "@bufbuild/protobuf";
import {
  AcceptStateRequestSchema,
  AcceptStateResponseSchema,
  CommitRequestSchema,
  CommitResponseSchema,
  GetBlobRequestSchema,
  GetBlobResponseSchema,
  GetTreeRequestSchema,
  GetTreeResponseSchema,
  ListCommitsRequestSchema,
  ListCommitsResponseSchema,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
} from "@ringwall/wire";
import type { Operations } from "../api/operations.ts";
import type { KeeperContext } from "../context.ts";
import { getBlob, putBlob } from "./blob-operations.ts";
import type { BlobStore } from "./blob-store.ts";
import type { Committer } from "./committer.ts";
import { type AcceptanceParts, acceptState } from "./state-acceptance.ts";
import type { TreeReading } from "./tree-reading.ts";

/** What the operations on the configuration work with. */
export interface ConfigServiceParts {
  readonly context: KeeperContext;
  readonly blobs: BlobStore;
  readonly committer: Committer;
  readonly trees: TreeReading;
  readonly acceptance: AcceptanceParts;
}

/** Adds the operations `config.*`. */
export function addConfigOperations(operations: Operations, parts: ConfigServiceParts): void {
  const { context, blobs, committer, trees, acceptance } = parts;
  operations.add({
    noun: "config",
    verb: "blob",
    request: PutBlobRequestSchema,
    response: PutBlobResponseSchema,
    answer: (request) => putBlob(blobs, request),
    fail: (code, message) => create(PutBlobResponseSchema, { error: { code, message } }),
  });
  operations.add({
    noun: "config",
    verb: "get-blob",
    request: GetBlobRequestSchema,
    response: GetBlobResponseSchema,
    answer: (request) => getBlob(context.names, request),
    fail: (code, message) => create(GetBlobResponseSchema, { error: { code, message } }),
  });
  operations.add({
    noun: "config",
    verb: "commit",
    request: CommitRequestSchema,
    response: CommitResponseSchema,
    answer: (request, trace) => committer.commit(request, trace),
    fail: (code, message) =>
      create(CommitResponseSchema, { result: { case: "error", value: { code, message } } }),
  });
  operations.add({
    noun: "config",
    verb: "tree",
    request: GetTreeRequestSchema,
    response: GetTreeResponseSchema,
    answer: (request) => trees.tree(request),
    fail: (code, message) => create(GetTreeResponseSchema, { error: { code, message } }),
  });
  operations.add({
    noun: "config",
    verb: "commits",
    request: ListCommitsRequestSchema,
    response: ListCommitsResponseSchema,
    answer: (request) => trees.commits(request),
    fail: (code, message) => create(ListCommitsResponseSchema, { error: { code, message } }),
  });
  operations.add({
    noun: "config",
    verb: "accept",
    request: AcceptStateRequestSchema,
    response: AcceptStateResponseSchema,
    answer: (request) => acceptState(acceptance, request),
    fail: (code, message) => create(AcceptStateResponseSchema, { error: { code, message } }),
  });
}
