import { create } from "@bufbuild/protobuf";
import {
  GetPolicyRequestSchema,
  GetPolicyResponseSchema,
  ListHistoryRequestSchema,
  ListHistoryResponseSchema,
} from "@ringwall/wire";
import type { Operations } from "../api/operations.ts";
import type { PolicyReading } from "./policy-reading.ts";
import type { VersionHistory } from "./version-history.ts";

/** Adds the operations `policy.*`. */
export function addPolicyOperations(
  operations: Operations,
  policies: PolicyReading,
  history: VersionHistory,
): void {
  operations.add({
    noun: "policy",
    verb: "get",
    request: GetPolicyRequestSchema,
    response: GetPolicyResponseSchema,
    answer: (request) => policies.get(request),
    fail: (code, message) => create(GetPolicyResponseSchema, { error: { code, message } }),
  });
  operations.add({
    noun: "policy",
    verb: "history",
    request: ListHistoryRequestSchema,
    response: ListHistoryResponseSchema,
    answer: (request) => history.list(request),
    fail: (code, message) => create(ListHistoryResponseSchema, { error: { code, message } }),
  });
}
