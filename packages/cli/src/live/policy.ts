import { fromBinary } from "@bufbuild/protobuf";
import {
  GetPolicyRequestSchema,
  type GetPolicyResponse,
  GetPolicyResponseSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { accepted, type Operator } from "./operator.ts";

/** A policy with what the control plane says about it. */
export interface PolicyReading {
  readonly policy: WorkloadPolicy;
  readonly answer: GetPolicyResponse;
}

const PARTS_LIMIT = 128;

/** Reads a workload's policy, head with version 0, whole even when it comes in parts. */
export async function readPolicy(
  operator: Operator,
  workload: string,
  version: bigint,
): Promise<PolicyReading> {
  const read = async (part: number) =>
    accepted(
      "policy.get",
      await operator.call("policy.get", GetPolicyRequestSchema, GetPolicyResponseSchema, {
        workload,
        version,
        part,
      }),
    );
  const answer = await read(0);
  if (answer.policy !== undefined) return { policy: answer.policy, answer };
  if (answer.count === 0 || answer.count > PARTS_LIMIT) {
    throw new CliError(
      "transport",
      `policy.get: ${answer.count} parts, 1 to ${PARTS_LIMIT} wanted`,
    );
  }
  const parts = [answer.data];
  for (let part = 1; part < answer.count; part += 1) parts.push((await read(part)).data);
  return { policy: fromBinary(WorkloadPolicySchema, Buffer.concat(parts)), answer };
}
