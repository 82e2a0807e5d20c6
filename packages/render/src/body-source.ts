import type { Configuration, ModeName, WorkloadSpec } from "./model.ts";

/** A change of what bodies are rendered from. Applying one twice is the same as once. */
export type SourceChange =
  /** Replaces the whole configuration. It is admitted. */
  | { readonly kind: "configuration"; readonly configuration: Configuration }
  /** Adds or replaces a workload. */
  | { readonly kind: "workload"; readonly workload: WorkloadSpec }
  /** Removes a workload; an unknown one is fine. */
  | { readonly kind: "removal"; readonly id: string };

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

/** Net difference between two flushes: what came back to where it was is not in it. */
export interface BodyChanges {
  readonly heads: ReadonlyMap<string, Head>;
  readonly removed: readonly string[];
  /** Stored rows and endpoints that were left out of routes. */
  readonly skippedRows: number;
}

/**
 * Turns changes into bodies. A flush is worked off in slices of a few milliseconds, so that an actor
 * can serve its mailbox in between; changes that are applied meanwhile belong to the next flush.
 */
export interface BodySource {
  apply(changes: Iterable<SourceChange>): void;
  /** Begins a flush of everything applied so far; nothing happens if one is under way. */
  begin(): void;
  /** Works off one slice; the changes when the flush is done, undefined while it is not. */
  work(): BodyChanges | undefined;
  /** Content objects of a current body: its manifest first, then the sets that it names. */
  objectsOf(digest: string): readonly string[];
  /** Bytes of a content object of a current body. */
  object(digest: string): Uint8Array | undefined;
}
