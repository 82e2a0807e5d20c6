import {
  AgentState,
  EnforcementMode,
  ListStatusRequestSchema,
  ListStatusResponseSchema,
  type WorkloadStatus,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { enumName } from "../output/enum-name.ts";
import { accepted, type Operator } from "./operator.ts";

const PAGES_LIMIT = 10_000;

/** Delivery states, all or those of the given workloads. */
export async function listStatus(
  operator: Operator,
  ids: readonly string[] = [],
): Promise<WorkloadStatus[]> {
  const workloads: WorkloadStatus[] = [];
  let after = "";
  for (let page = 0; page < PAGES_LIMIT; page += 1) {
    const answer = accepted(
      "status.list",
      await operator.call("status.list", ListStatusRequestSchema, ListStatusResponseSchema, {
        after,
        ids: [...ids],
      }),
    );
    workloads.push(...answer.workloads);
    const last = answer.workloads.at(-1);
    if (!answer.more || last === undefined) return workloads;
    after = last.workload;
  }
  throw new CliError("transport", `the states did not end within ${PAGES_LIMIT} pages`);
}

/** A state as people name it. */
export function stateName(state: AgentState): string {
  return enumName(AgentState, state);
}

/** A mode as people name it. */
export function modeName(mode: EnforcementMode): string {
  switch (mode) {
    case EnforcementMode.VISIBILITY:
      return "visibility";
    case EnforcementMode.SIMULATION:
      return "simulation";
    case EnforcementMode.ENFORCED:
      return "enforced";
    default:
      return "-";
  }
}
