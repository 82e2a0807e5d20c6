import type { ConfigurationEdits, SourceChange } from "../body-source.ts";
import type { Configuration } from "../model.ts";

/** A change of one workload. */
export type WorkloadChange = Exclude<SourceChange, { kind: "configuration" }>;

/** Changes that wait for the next flush, in their order. Only the last configuration counts. */
export class Pending {
  readonly workloads: WorkloadChange[] = [];
  configuration: Configuration | undefined;
  /** What it edits in the one before; undefined where several followed each other. */
  edits: ConfigurationEdits | undefined;

  take(change: SourceChange): void {
    if (change.kind === "configuration") {
      this.edits = this.configuration === undefined ? change.edits : undefined;
      this.configuration = change.configuration;
    } else {
      this.workloads.push(change);
    }
  }
}
