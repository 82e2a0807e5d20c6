import type { Configuration, ModeName, WorkloadSpec } from "./model.ts";

/** A change of what bodies are rendered from. Applying one twice is the same as once. */
export type SourceChange =
  /** Replaces the whole configuration. It is admitted. */
  | {
      readonly kind: "configuration";
      readonly configuration: Configuration;
      /** Saves comparing it with the one before. */
      readonly edits?: ConfigurationEdits | undefined;
    }
  /** Adds or replaces a workload. */
  | { readonly kind: "workload"; readonly workload: WorkloadSpec }
  /** Removes a workload; an unknown one is fine. */
  | { readonly kind: "removal"; readonly id: string };

/** In what a configuration differs from another one. */
export interface ConfigurationEdits {
  /** The other one. Edits of any other than the one in force are not used. */
  readonly since: Configuration;
  /** Every unit that may differ as it was, and as it is. The others are the same in both. */
  readonly before: Configuration;
  readonly after: Configuration;
}

/** What a workload has now: a body, or the reason why it can't have one. */
export type Head = (
  | {
      readonly kind: "body";
      /** Digest of its BodyManifest, 64 hex digits. */
      readonly digest: string;
    }
  | {
      readonly kind: "refused";
      /** Limit, actual and allowed value. */
      readonly reason: string;
    }
) & {
  readonly mode: ModeName;
  /** True if a unit names a mode weaker than enforced, which alone takes the mark back. */
  readonly weaker: boolean;
};

/** Workloads that go from one body to another together. */
export interface BodyStep {
  /** What they had before; undefined for workloads that are new. */
  readonly from: Head | undefined;
  readonly to: Head;
  readonly workloads: readonly string[];
  /**
   * The changes of the PolicyDelta between the two bodies, encoded once: fields to put after those of
   * the versions. Undefined unless both are bodies. Ask for it before the next flush begins.
   */
  delta(): Uint8Array | undefined;
}

/** Net difference between two flushes: what came back to where it was is not in it. */
export interface BodyChanges {
  /** Each pair of heads once. */
  readonly steps: readonly BodyStep[];
  /** The same by workload. */
  readonly heads: ReadonlyMap<string, Head>;
  readonly removed: readonly string[];
  /** Stored rows and endpoints that were left out of routes. */
  readonly skippedRows: number;
}

/** How far a flush has come. */
export interface Progress {
  readonly phase: "reading" | "rendering";
  /** Workloads that were read, or bodies that were rendered. */
  readonly done: number;
  readonly total: number;
}
