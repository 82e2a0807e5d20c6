import { partitionOf } from "@ringwall/bus/client";
import {
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  type RowProblem,
  WorkloadSource,
} from "@ringwall/wire";
import type { EstateWorkload } from "../estate/read-estate.ts";
import { mapParallel } from "../live/blobs.ts";
import { apiFailure, type Operator } from "../live/operator.ts";
import { patiently } from "./patience.ts";

/** What reporting an estate did. */
export interface Registered {
  readonly changed: number;
  readonly problems: readonly { readonly workload: string; readonly problem: RowProblem }[];
}

const REPORT_TIMEOUT_MS = 2_000;

/** Reports workloads as an adapter does; waits for the owners of their partitions at the start. */
export async function registerEstate(
  operator: Operator,
  workloads: readonly EstateWorkload[],
): Promise<Registered> {
  const answers = await mapParallel(workloads, (workload) => report(operator, workload));
  return {
    changed: answers.filter(({ changed }) => changed).length,
    problems: answers.flatMap(({ problems }, index) =>
      problems.map((problem) => ({ workload: workloads[index]?.id ?? "", problem })),
    ),
  };
}

async function report(operator: Operator, workload: EstateWorkload) {
  const answer = await patiently(() =>
    operator.call(
      "workload.report",
      ReportWorkloadRequestSchema,
      ReportWorkloadResponseSchema,
      {
        id: workload.id,
        source: WorkloadSource.INVENTORY,
        labels: { ...workload.labels },
        addresses: [...workload.addresses],
        services: [...workload.services],
        annotations: { ...workload.annotations },
        outbounds: [...workload.outbounds],
        attributes: { ...workload.attributes },
        namespace: workload.namespace,
      },
      { partition: partitionOf(workload.id), timeoutMs: REPORT_TIMEOUT_MS },
    ),
  );
  if (answer.error !== undefined) throw apiFailure(`registering ${workload.id}`, answer.error);
  return answer;
}
