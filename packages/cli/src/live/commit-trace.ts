import { fromBinary } from "@bufbuild/protobuf";
import {
  type Bus,
  BusError,
  PARTITIONS,
  partitionOf,
  readStored,
  storedSince,
} from "@ringwall/bus/client";
import {
  ConfigRecordSchema,
  type Inputs,
  RenderBatchSchema,
  VersionRecordSchema,
  type WorkloadStatus,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import type { BusOperator } from "./bus-operator.ts";
import { listStatus } from "./status.ts";

/** What became of one workload that a commit changed. */
export interface TracedWorkload {
  readonly id: string;
  readonly partition: number;
  readonly fromVersion: bigint;
  readonly version: bigint;
  /** Unix milliseconds of the hops; 0 while one has not happened or is not known. */
  readonly renderedUnixMs: number;
  readonly versionedUnixMs: number;
  readonly ackedUnixMs: number;
  /** Undefined if no gateway knows it. */
  readonly status: WorkloadStatus | undefined;
}

/** The path of one commit, read from the records of the control plane. */
export interface CommitTrace {
  readonly sequence: bigint;
  readonly commitId: Uint8Array;
  readonly author: string;
  readonly message: string;
  readonly storedUnixMs: number;
  /** When each partition's inputs reached the commit, by partition. */
  readonly rendered: ReadonlyMap<number, number>;
  readonly versioned: ReadonlyMap<number, number>;
  readonly workloads: readonly TracedWorkload[];
}

interface Step {
  readonly id: string;
  readonly fromVersion: bigint;
  readonly version: bigint;
}

/** Follows a commit from CONFIG through RENDERED and VERSIONS to the agents' acknowledgements. */
export async function traceCommit(operator: BusOperator, sequence: bigint): Promise<CommitTrace> {
  const { bus } = operator;
  try {
    const record = await readStored(bus, "CONFIG", Number(sequence));
    const content =
      record === undefined ? undefined : fromBinary(ConfigRecordSchema, record.payload);
    if (record === undefined || content?.record.case !== "commit") {
      throw new CliError("refused", `CONFIG has no commit ${sequence}`, {
        hint: "`ringwall history` lists them",
      });
    }
    const commit = content.record.value;
    const rendered = await renderedAt(bus, sequence, record.timeUnixMs);
    const { versioned, steps } = await versionedAt(bus, sequence, record.timeUnixMs);
    const ids = [...steps.keys()];
    const statuses = ids.length === 0 ? [] : await listStatus(operator, ids);
    const byId = new Map(statuses.map((status) => [status.workload, status]));
    return {
      sequence,
      commitId: commit.id,
      author: commit.author,
      message: commit.message,
      storedUnixMs: record.timeUnixMs,
      rendered,
      versioned,
      workloads: ids.sort().flatMap((id) => {
        const step = steps.get(id);
        const partition = partitionOf(id);
        return step === undefined
          ? []
          : [
              {
                ...step,
                partition,
                renderedUnixMs: rendered.get(partition) ?? 0,
                versionedUnixMs: versioned.get(partition) ?? 0,
                ackedUnixMs: ackedAt(step, byId.get(id)),
                status: byId.get(id),
              },
            ];
      }),
    };
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    throw new CliError(error.code === "denied" ? "denied" : "transport", error.message, {
      hint: "`ringwall trace` reads the streams themselves: it needs the rights of an operator",
    });
  }
}

async function renderedAt(
  bus: Bus,
  sequence: bigint,
  sinceUnixMs: number,
): Promise<Map<number, number>> {
  const at = new Map<number, number>();
  const filters = [bus.names.rendered(0).replace(/0$/, "*")];
  for await (const record of storedSince(bus, { stream: "RENDERED", filters, sinceUnixMs })) {
    const { inputs, index, count } = fromBinary(RenderBatchSchema, record.payload);
    const partition = partitionIn(record.subject);
    // A batch of several parts counts with its last one.
    if (reaches(inputs, sequence) && index + 1 >= count && !at.has(partition)) {
      at.set(partition, record.timeUnixMs);
      if (at.size === PARTITIONS) break;
    }
  }
  return at;
}

async function versionedAt(
  bus: Bus,
  sequence: bigint,
  sinceUnixMs: number,
): Promise<{ versioned: Map<number, number>; steps: Map<string, Step> }> {
  const versioned = new Map<number, number>();
  const steps = new Map<string, Step>();
  const filters = [bus.names.version(0).replace(/0$/, "*")];
  for await (const record of storedSince(bus, { stream: "VERSIONS", filters, sinceUnixMs })) {
    const content = fromBinary(VersionRecordSchema, record.payload).record;
    const partition = partitionIn(record.subject);
    if (content.case !== "batch" || versioned.has(partition)) continue;
    const { inputs, more, steps: groups } = content.value;
    if (!reaches(inputs, sequence)) continue;
    for (const { advances } of groups) {
      for (const { workload, fromVersion, toVersion } of advances) {
        steps.set(workload, { id: workload, fromVersion, version: toVersion });
      }
    }
    if (!more) {
      versioned.set(partition, record.timeUnixMs);
      if (versioned.size === PARTITIONS) break;
    }
  }
  return { versioned, steps };
}

function reaches(inputs: Inputs | undefined, sequence: bigint): boolean {
  return inputs !== undefined && inputs.configSequence >= sequence;
}

function partitionIn(subject: string): number {
  return Number(subject.slice(subject.lastIndexOf(".") + 1));
}

/** The acknowledgement of a later version says nothing about when this one was in force. */
function ackedAt(step: Step, status: WorkloadStatus | undefined): number {
  return status?.ackedVersion === step.version ? Number(status.ackedUnixMs) : 0;
}
