import { create } from "@bufbuild/protobuf";
import type { Finding } from "@ringwall/render";
import {
  type CommitRequest,
  type CommitResponse,
  CommitResponseSchema,
  type Inputs,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { toHex } from "../log/hex.ts";
import { layerName } from "./admission.ts";
import type { ConfigLog } from "./config-log.ts";
import { storedFindings } from "./findings.ts";
import type { FileEntry } from "./live-tree.ts";
import { commitSummary } from "./summaries.ts";

/** Longest author and message, in bytes of UTF-8. */
const AUTHOR_BYTES = 256;
const MESSAGE_BYTES = 16 * 1024;

/** Most refusing findings beside which warnings are shown too. */
const FINDINGS_BESIDE_WARNINGS = 100;

/** Checks what does not depend on the tree; throws ApiFailure `invalid` or `too_large`. */
export function checkRequest(request: CommitRequest): void {
  const limits = [
    ["author", request.author, AUTHOR_BYTES],
    ["message", request.message, MESSAGE_BYTES],
  ] as const;
  for (const [name, text, allowed] of limits) {
    const bytes = Buffer.byteLength(text);
    if (bytes > allowed) {
      throw new ApiFailure("too_large", `the ${name} has ${bytes} bytes, allowed are ${allowed}`);
    }
  }
  if (request.author === "") {
    throw new ApiFailure("invalid", "the commit names no author");
  }
  for (const digest of [request.ledgerSha256, request.changesBlob, request.expectedParent]) {
    if (digest.length !== 0 && digest.length !== 32) {
      throw new ApiFailure("invalid", `a digest has ${digest.length} bytes, SHA-256 has 32`);
    }
  }
}

/** A file as messages name it. */
export function fileName(file: FileEntry): string {
  return `${layerName(file)}/${file.path}`;
}

/** The commit is stored, or would be. */
export function accepted(
  inputs: Inputs | undefined,
  unchanged: boolean,
  warnings: readonly Finding[],
): CommitResponse {
  const value = inputs === undefined ? { unchanged } : { unchanged, inputs };
  return create(CommitResponseSchema, {
    result: { case: "accepted", value },
    warnings: storedFindings(warnings),
  });
}

/** Someone else applied meanwhile; throws ApiFailure when there is no commit to show. */
export function conflict(log: ConfigLog, request: CommitRequest): CommitResponse {
  if (log.head === undefined) {
    const parent = toHex(request.expectedParent);
    const message = `the commit expects parent ${parent}, CONFIG has no commit; read the tree again`;
    throw new ApiFailure("conflict", message);
  }
  return create(CommitResponseSchema, {
    result: { case: "conflict", value: { head: commitSummary(log, log.head) } },
  });
}

/** The resulting tree is refused. */
export function rejected(findings: readonly Finding[]): CommitResponse {
  const refusing = findings.filter((finding) => finding.warning !== true);
  const warnings = findings.filter((finding) => finding.warning === true);
  return create(CommitResponseSchema, {
    result: { case: "rejected", value: { findings: storedFindings(refusing) } },
    warnings: refusing.length < FINDINGS_BESIDE_WARNINGS ? storedFindings(warnings) : [],
  });
}
