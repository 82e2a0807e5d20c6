import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { readLast, type Task } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import { LIMITS } from "@ringwall/render";
import {
  type GetBlobRequest,
  type GetBlobResponse,
  GetBlobResponseSchema,
  type PutBlobRequest,
  type PutBlobResponse,
  PutBlobResponseSchema,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { toHex } from "../log/hex.ts";
import { PART_BYTES, partCount } from "../log/parts.ts";
import type { BlobStore } from "./blob-store.ts";

const MOST_PARTS = LIMITS.treeFileBytes / PART_BYTES;

/** Answers `config.blob`: stores a part of a file. Several parts are checked together by the commit. */
export function* putBlob(blobs: BlobStore, request: PutBlobRequest): Task<PutBlobResponse> {
  const { index, count, data } = request;
  const sha256 = digestText(request.sha256);
  if (data.length > PART_BYTES) {
    const message = `a part has ${data.length} bytes, allowed are ${PART_BYTES}; split it`;
    throw new ApiFailure("too_large", message);
  }
  if (count < 1 || index >= count) {
    throw new ApiFailure("invalid", `part ${index} of ${count} parts can't be`);
  }
  if (count > MOST_PARTS) {
    const message = `the file has ${count} parts, allowed are ${MOST_PARTS} (16 MiB)`;
    throw new ApiFailure("too_large", message);
  }
  if (count === 1) {
    const actual = hash("sha256", data);
    if (actual !== sha256) {
      throw new ApiFailure("invalid", `the bytes have SHA-256 ${actual}, named is ${sha256}`);
    }
  }
  yield* blobs.writePart(sha256, index, count, data);
  return create(PutBlobResponseSchema);
}

/** Answers `config.get-blob`: reads a part of a file as it is stored. */
export function* getBlob(names: Names, request: GetBlobRequest): Task<GetBlobResponse> {
  const sha256 = digestText(request.sha256);
  const record = yield* readLast("BLOBS", names.blob(sha256, request.index));
  if (record === undefined) {
    throw new ApiFailure("not_found", `part ${request.index} of blob ${sha256} is not stored`);
  }
  return create(GetBlobResponseSchema, { count: partCount(record), data: record.payload });
}

function digestText(digest: Uint8Array): string {
  if (digest.length !== 32) {
    throw new ApiFailure("invalid", `the digest has ${digest.length} bytes, SHA-256 has 32`);
  }
  return toHex(digest);
}
