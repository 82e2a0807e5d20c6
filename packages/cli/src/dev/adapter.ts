import { setTimeout as delay } from "node:timers/promises";
import { partitionOf } from "@ringwall/bus";
import {
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  type RowProblem,
  WorkloadSource,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import type { EstateWorkload } from "../estate/read-estate.ts";
import { mapParallel } from "../live/blobs.ts";
import { apiFailure, type Operator } from "../live/operator.ts";

/** What reporting an estate did. */
export interface Registered {
  readonly changed: number;
  readonly problems: readonly { readonly workload: string; readonly problem: RowProblem }[];
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 200;

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
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      const answer = await operator.call(
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
        { partition: partitionOf(workload.id), timeoutMs: 2_000 },
      );
      if (answer.error === undefined) return answer;
      throw apiFailure(`registering ${workload.id}`, answer.error);
    } catch (error) {
      const passing = error instanceof CliError && error.code === "transport";
      if (!passing || performance.now() > until) throw error;
      await delay(RETRY_MS);
    }
  }
}
