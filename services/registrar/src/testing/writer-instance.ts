import { create, fromBinary } from "@bufbuild/protobuf";
import type { AppendEffect, Effect, FailureCode } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import {
  PartitionOwnerSchema,
  ReportWorkloadRequestSchema,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import type { Settlement } from "../job.ts";
import type { Operation } from "../operation.ts";
import { Outbox } from "../outbox.ts";
import { PartitionWriter } from "../partition-writer.ts";
import { Registry } from "../registry.ts";
import { Scopes } from "../scopes.ts";
import { MemoryStream } from "./memory-stream.ts";

export const NAMES = names("t");
/** One instance's writer of partition 7 on a shared stream. */
export class WriterInstance {
  readonly stream: MemoryStream;
  readonly registry = new Registry(NAMES);
  readonly out = new Outbox();
  readonly writer: PartitionWriter;
  readonly settled: Settlement[] = [];
  readonly pending: Effect[] = [];
  readonly contradictions: string[] = [];
  serving = false;
  nowMs = 0;
  #read = 0;
  #writes = 0;

  constructor(stream: MemoryStream, name: string) {
    this.stream = stream;
    this.writer = new PartitionWriter(
      {
        names: NAMES,
        instance: name,
        registry: this.registry,
        scopes: new Scopes(),
        out: this.out,
        moment: () => ({ wallMs: 5_000, monotonicMs: this.nowMs, random: () => 0.5 }),
        traceRatio: 1,
        writeId: () => {
          this.#writes += 1;
          return `${name}:${this.#writes}`;
        },
        serving: (_, serving) => {
          this.serving = serving;
        },
        vanished: (id) => {
          this.registry.drop(id);
        },
        contradicted: (detail) => {
          this.contradictions.push(detail);
          this.writer.lose();
        },
      },
      7,
    );
  }

  /** Folds what the stream holds that was not folded yet. */
  fold(): void {
    for (const record of this.stream.lastPerSubject(NAMES.registryAll)) {
      if (record.sequence > this.#read) {
        this.registry.apply(record);
        this.writer.folded(record);
      }
    }
    this.#read = this.stream.sequence;
  }

  submit(id: string, operation: Operation): void {
    this.writer.submit({ id, operation, settle: (each) => this.settled.push(each) });
  }

  report(id: string, app: string): void {
    const request = create(ReportWorkloadRequestSchema, {
      id,
      source: WorkloadSource.OPERATOR,
      labels: { app },
    });
    this.submit(id, { kind: "report", request });
  }

  /** The append that waits for its acknowledgement. */
  inFlight(): AppendEffect | undefined {
    this.#gather();
    return this.pending.find((each) => each.kind === "append");
  }

  /** Performs the oldest effect; false if there is none. */
  perform(fail?: FailureCode): boolean {
    this.#gather();
    const effect = this.pending.shift();
    if (effect?.kind === "append") {
      const stored = fail === undefined ? this.stream.append(effect) : undefined;
      if (stored === undefined) {
        this.writer.failed(effect.tag, fail ?? "fence-lost", "");
      } else {
        this.writer.appended(effect.tag, stored.sequence);
      }
    } else if (effect?.kind === "follow") {
      for (const record of this.stream.lastPerSubject(effect.filters[0] ?? "")) {
        this.writer.reloadRecord(effect.reader, record);
      }
      this.writer.reloadEnded(effect.reader, this.stream.sequence);
    } else if (effect?.kind === "again") {
      this.writer.pump();
    } else if (effect?.kind === "timer") {
      this.writer.retry();
    }
    return effect !== undefined;
  }

  settle(): void {
    while (this.perform()) {
      this.fold();
    }
  }

  owner() {
    const [record] = this.stream.lastPerSubject(NAMES.registryOwner(7));
    return fromBinary(PartitionOwnerSchema, record?.payload ?? new Uint8Array());
  }

  /** Revisions at which the partition was taken over before, as its owner key remembers them. */
  places(): number[] {
    return this.owner().claims.map(({ revision }) => Number(revision));
  }

  labels(): Record<string, string | undefined> {
    return Object.fromEntries(
      this.stream
        .lastPerSubject(NAMES.registryPartition(7))
        .filter((record) => record.payload.length > 0 && !record.subject.endsWith("OWNER"))
        .map((record) => fromBinary(WorkloadRecordSchema, record.payload))
        .map((record) => [record.id, record.labels.app]),
    );
  }

  #gather(): void {
    const effects = this.out.take().flatMap((each) => (each.kind === "fork" ? each.effects : each));
    this.pending.push(...effects.filter((each) => WAITED.has(each.kind)));
  }
}

const WAITED = new Set(["append", "follow", "again", "timer"]);

/** An instance that has folded the stream and takes partition 7 over. */
export function instance(stream = new MemoryStream(), name = "one"): WriterInstance {
  const made = new WriterInstance(stream, name);
  made.fold();
  made.writer.gain();
  return made;
}
