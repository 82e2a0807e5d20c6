import type { Job } from "./job.ts";

/** Most jobs that wait for one partition; more are refused so that their senders slow down. */
export const JOBS_MAX = 10_000;

/**
 * Jobs of one partition, first come first served by workload; those of one workload go together, but
 * for a removal: what is answered before or after it must have been stored as well.
 */
export class JobQueue {
  #byId = new Map<string, Job[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a job at the end; false if the queue is full. */
  add(job: Job): boolean {
    if (this.#size >= JOBS_MAX) {
      return false;
    }
    this.#size += 1;
    const jobs = this.#byId.get(job.id);
    if (jobs === undefined) {
      this.#byId.set(job.id, [job]);
    } else {
      jobs.push(job);
    }
    return true;
  }

  /** Takes the next jobs of the workload that waits longest; undefined if none waits. */
  take(): readonly Job[] | undefined {
    const first = this.#byId.entries().next();
    if (first.done) {
      return undefined;
    }
    const [id, jobs] = first.value;
    const removes = jobs[0]?.operation.kind === "deregister";
    const end = jobs.findIndex(({ operation }) => (operation.kind === "deregister") !== removes);
    const taken = end < 0 ? jobs : jobs.slice(0, end);
    this.#size -= taken.length;
    if (end < 0) {
      this.#byId.delete(id);
    } else {
      this.#byId.set(id, jobs.slice(end));
    }
    return taken;
  }

  /** Puts jobs of one workload that were not written back to the front. */
  putBack(jobs: readonly Job[]): void {
    const [first] = jobs;
    if (first === undefined) {
      return;
    }
    const later = this.#byId.get(first.id) ?? [];
    this.#byId.delete(first.id);
    this.#byId = new Map([[first.id, [...jobs, ...later]], ...this.#byId]);
    this.#size += jobs.length;
  }

  /** Takes everything. */
  drain(): Job[] {
    const jobs = [...this.#byId.values()].flat();
    this.#byId.clear();
    this.#size = 0;
    return jobs;
  }
}
