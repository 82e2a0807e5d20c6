import { createHash } from "node:crypto";
import {
  GetBlobRequestSchema,
  GetBlobResponseSchema,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { hex } from "./hex.ts";
import { accepted, type Operator } from "./operator.ts";

/** Largest part of a file in one message, in bytes. */
export const BLOB_PART_BYTES = 512 * 1024;
const PARALLEL_CALLS = 16;
const PARTS_LIMIT = 64;

/** SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

/** Runs `work` over items, at most 16 at a time; results keep the items' order. */
export async function mapParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_CALLS, items.length) }, lane));
  return results;
}

/** Stores a file's bytes before the commit that names it. */
export async function putBlob(operator: Operator, bytes: Uint8Array): Promise<void> {
  const digest = sha256(bytes);
  const count = Math.max(1, Math.ceil(bytes.length / BLOB_PART_BYTES));
  for (let index = 0; index < count; index += 1) {
    const data = bytes.subarray(index * BLOB_PART_BYTES, (index + 1) * BLOB_PART_BYTES);
    const answer = await operator.call("config.blob", PutBlobRequestSchema, PutBlobResponseSchema, {
      sha256: digest,
      index,
      count,
      data,
    });
    accepted("config.blob", answer);
  }
}

/**
 * Stores again what the control plane has lost of these files, though its tree names them: without
 * their bytes it is held. Returns how many were lost.
 */
export async function putBack(operator: Operator, files: readonly Uint8Array[]): Promise<number> {
  const lost = await mapParallel(files, async (bytes) => {
    if (await isStored(operator, sha256(bytes))) return 0;
    await putBlob(operator, bytes);
    return 1;
  });
  return lost.reduce((sum: number, each) => sum + each, 0);
}

function getPart(operator: Operator, digest: Uint8Array, index: number) {
  const request = { sha256: digest, index };
  return operator.call("config.get-blob", GetBlobRequestSchema, GetBlobResponseSchema, request);
}

async function isStored(operator: Operator, digest: Uint8Array): Promise<boolean> {
  let count = 1;
  for (let index = 0; index < count; index += 1) {
    const answer = await getPart(operator, digest, index);
    if (answer.error?.code === "not_found") return false;
    accepted("config.get-blob", answer);
    count = Math.min(answer.count, PARTS_LIMIT);
  }
  return true;
}

/** Reads a file's bytes and checks them against their digest. */
export async function getBlob(operator: Operator, digest: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let count = 1;
  for (let index = 0; index < count; index += 1) {
    const answer = await getPart(operator, digest, index);
    accepted("config.get-blob", answer);
    count = Math.min(answer.count, PARTS_LIMIT);
    parts.push(answer.data);
  }
  const bytes = Buffer.concat(parts);
  if (hex(sha256(bytes)) !== hex(digest)) {
    throw new CliError(
      "transport",
      `file ${hex(digest)} arrived with other bytes than its digest names`,
      { hint: "the stream BLOBS is damaged: restore it" },
    );
  }
  return bytes;
}
