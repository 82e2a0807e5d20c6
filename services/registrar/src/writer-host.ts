import type { Moment } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import type { Outbox } from "./outbox.ts";
import type { Registry } from "./registry.ts";
import type { Scopes } from "./scopes.ts";

/** What the writers of all partitions share. */
export interface WriterHost {
  readonly names: Names;
  readonly instance: string;
  readonly registry: Registry;
  readonly scopes: Scopes;
  readonly out: Outbox;
  /** The moment of this step. */
  readonly moment: () => Moment;
  /** Share of the registrations that came without a trace and begin one. */
  readonly traceRatio: number;
  /** A new id for a fenced write. */
  readonly writeId: () => string;
  /** Told when the partition begins or ends to take requests. */
  readonly serving: (partition: number, serving: boolean) => void;
  /** Told when a workload turns out to be gone although its removal was never read. */
  readonly vanished: (id: string) => void;
  /** Told when the fold turns out to be of another life of the stream; ends owning everything. */
  readonly contradicted: (detail: string) => void;
}
