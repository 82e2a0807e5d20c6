import type { SourceChange } from "../body-source.ts";
import type { Configuration, WorkloadSpec } from "../model.ts";

/** Changes that wait for the next flush. Of several to one workload only the last one counts. */
export class Pending {
  readonly workloads = new Map<string, WorkloadSpec | undefined>();
  configuration: Configuration | undefined;

  take(change: SourceChange): void {
    switch (change.kind) {
      case "configuration":
        this.configuration = change.configuration;
        break;
      case "workload":
        this.workloads.set(change.workload.id, change.workload);
        break;
      case "removal":
        this.workloads.set(change.id, undefined);
        break;
    }
  }
}
