import { create } from "@bufbuild/protobuf";
import { ApiErrorSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { apiFailure } from "./operator.ts";

function failure(verb: string, code: string) {
  return apiFailure(
    verb,
    create(ApiErrorSchema, { code, message: "workload nope has no version" }),
  );
}

describe("a refusal of the control plane", () => {
  it("says where to look when a workload is not there", () => {
    const error = failure("policy.get", "not_found");
    expect(error.message).toBe("policy.get: workload nope has no version");
    expect(error.details.hint).toContain("ringwall get workloads");
    expect(error.exitCode).toBe(6);
  });

  it("gives no hint that does not belong to what was asked", () => {
    expect(failure("config.blob", "not_found").details.hint).toBeUndefined();
    expect(failure("policy.get", "unavailable").details.hint).toContain("ringwall status");
  });
});
