import { create } from "@bufbuild/protobuf";
import { ReportWorkloadRequestSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import type { Job } from "./job.ts";
import { JobQueue } from "./job-queue.ts";
import type { Operation } from "./operation.ts";

const REPORT: Operation = {
  kind: "report",
  request: create(ReportWorkloadRequestSchema, { id: "web-1" }),
};
const REMOVAL: Operation = { kind: "deregister" };

function job(operation: Operation, id = "web-1"): Job {
  return { id, operation, sinceMs: 0, settle: () => undefined };
}

function kindsOf(jobs: readonly Job[] | undefined): readonly string[] | undefined {
  return jobs?.map(({ id, operation }) => `${id} ${operation.kind}`);
}

describe("JobQueue", () => {
  it("gives the jobs of one workload together, the one that waits longest first", () => {
    const queue = new JobQueue();
    for (const each of [job(REPORT), job(REPORT, "web-2"), job(REPORT)]) queue.add(each);
    expect(kindsOf(queue.take())).toEqual(["web-1 report", "web-1 report"]);
    expect(kindsOf(queue.take())).toEqual(["web-2 report"]);
    expect(queue.take()).toBeUndefined();
    expect(queue.size).toBe(0);
  });

  it("never joins a removal with what was asked before or after it", () => {
    const queue = new JobQueue();
    for (const each of [REPORT, REMOVAL, REMOVAL, REPORT]) queue.add(job(each));
    queue.add(job(REPORT, "web-2"));
    expect(kindsOf(queue.take())).toEqual(["web-1 report"]);
    expect(kindsOf(queue.take())).toEqual(["web-1 deregister", "web-1 deregister"]);
    expect(queue.size).toBe(2);
    expect(kindsOf(queue.take())).toEqual(["web-1 report"]);
    expect(kindsOf(queue.take())).toEqual(["web-2 report"]);
  });

  it("puts jobs back before those that came later", () => {
    const queue = new JobQueue();
    for (const each of [REMOVAL, REPORT]) queue.add(job(each));
    const taken = queue.take() ?? [];
    queue.putBack(taken);
    expect(kindsOf(queue.take())).toEqual(["web-1 deregister"]);
    expect(kindsOf(queue.take())).toEqual(["web-1 report"]);
  });
});
