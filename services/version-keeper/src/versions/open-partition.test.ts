import { create, toBinary } from "@bufbuild/protobuf";
import { Outbox, Tasks } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import { type Inputs, InputsSchema, RenderBatchSchema, VersionRecordSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { DEFAULT_OPTIONS, type KeeperContext } from "../context.ts";
import {
  type CoveredPlace,
  catchUpVersions,
  epochReason,
  renderedStart,
  strayCheckpoint,
} from "./open-partition.ts";
import { PartitionLog } from "./partition-log.ts";

function contextOf(): KeeperContext {
  const outbox = new Outbox();
  return {
    names: names(),
    instance: "one",
    environment: "prod",
    options: DEFAULT_OPTIONS,
    outbox,
    tasks: new Tasks(outbox, "task"),
    moment: () => ({ wallMs: 0, monotonicMs: 0, random: () => 0.5 }),
    nextWrite: () => "w",
    traceRatio: 1,
  };
}

/** A log that this instance has read up to sequence 9, of epoch 3. */
function logOfEpoch3(): PartitionLog {
  const log = new PartitionLog(0);
  const begin = create(VersionRecordSchema, {
    record: { case: "epochBegin", value: { epoch: 3n } },
  });
  log.take(begin.record, 9, 0);
  return log;
}

/** The leader's last record: at sequence 7, of epoch 8. */
const LAST = {
  kind: "read",
  tag: "",
  record: {
    subject: "rw.version.0",
    sequence: 7,
    payload: toBinary(
      VersionRecordSchema,
      create(VersionRecordSchema, { record: { case: "batch", value: { epoch: 8n } } }),
    ),
    headers: {},
    timeUnixMs: 0,
  },
} as const;

describe("a partition whose log went back to a later epoch than is known", () => {
  it("waits for its reader instead of beginning an epoch below the stored one", () => {
    const task = catchUpVersions(contextOf(), 0, logOfEpoch3());
    task.next();
    expect(task.next(LAST)).toMatchObject({ done: false, value: { kind: "signal" } });
  });

  it("begins a higher epoch when the beginning of the stored one is nowhere", () => {
    const log = logOfEpoch3();
    const task = catchUpVersions(contextOf(), 0, log);
    task.next();
    task.next(LAST);
    const end = task.next("elapsed");
    const value = { sequence: 7, epoch: 8n, inputs: undefined, write: "" };
    expect(end).toEqual({ done: true, value });
    expect(epochReason(log, value)).toContain("epoch 8");
  });
});

function inputsOf(registryRevision: bigint): Inputs {
  return create(InputsSchema, { generation: 1n, configSequence: 2n, registryRevision });
}

/** A log whose last batch is of registry revision 67 and stood at sequence 185 of RENDERED. */
function logAt185(): PartitionLog {
  const log = logOfEpoch3();
  const rendered = { streamCreatedUnixNs: 1n, sequence: 185n };
  const batch = create(VersionRecordSchema, {
    record: { case: "batch", value: { epoch: 3n, inputs: inputsOf(67n), rendered } },
  });
  log.take(batch.record, 10, 0);
  return log;
}

/** RENDERED's record at a sequence, as a read finds it. */
function renderedAt(sequence: number, inputs: Inputs) {
  const payload = toBinary(RenderBatchSchema, create(RenderBatchSchema, { inputs, count: 1 }));
  const record = { subject: names().rendered(0), sequence, payload, headers: {}, timeUnixMs: 0 };
  return { kind: "read", tag: "", record } as const;
}

const RENDERED_STATE = {
  kind: "stream-info",
  tag: "",
  createdUnixNs: 1n,
  firstSequence: 1,
  lastSequence: 187,
} as const;

describe("a partition whose place in RENDERED holds another batch than was taken", () => {
  it("asks for a full batch, because what changed in between was lost with the first", () => {
    const task = renderedStart(contextOf(), 0, logAt185());
    task.next();
    task.next(RENDERED_STATE);
    task.next(renderedAt(185, inputsOf(70n)));

    const start = task.next(renderedAt(187, inputsOf(76n)));

    expect(start.value).toEqual({ createdUnixNs: 1n, from: 187, needsFull: true });
  });

  it("goes on behind the batch that was taken", () => {
    const task = renderedStart(contextOf(), 0, logAt185());
    task.next();
    task.next(RENDERED_STATE);

    const start = task.next(renderedAt(185, inputsOf(67n)));

    expect(start.value).toEqual({ createdUnixNs: 1n, from: 186, needsFull: false });
  });
});

/** VERSIONS' record at sequence 10, as a read finds it. */
function versionAt10(epoch: bigint, inputs: Inputs) {
  const batch = create(VersionRecordSchema, {
    record: { case: "batch", value: { epoch, inputs } },
  });
  const payload = toBinary(VersionRecordSchema, batch);
  const record = { subject: names().version(0), sequence: 10, payload, headers: {}, timeUnixMs: 0 };
  return { kind: "read", tag: "", record } as const;
}

describe("a partition whose newest checkpoint was written by a keeper with another log", () => {
  const covered: CoveredPlace = { epoch: 3n, coveredSequence: 10, inputs: inputsOf(67n) };

  it.each([
    ["nothing", { kind: "read", tag: "", record: undefined } as const],
    ["other inputs", versionAt10(3n, inputsOf(66n))],
    ["another epoch", versionAt10(2n, inputsOf(67n))],
  ])("begins an epoch when the log has %s at its end", (_what, answer) => {
    const task = strayCheckpoint(contextOf(), 0, logAt185(), () => covered);
    task.next();

    expect(task.next(answer).value).toContain("up to sequence 10, which the log does not have");
  });

  it("goes on when the log has what it covers, or a newer one came meanwhile", () => {
    const fits = strayCheckpoint(contextOf(), 0, logAt185(), () => covered);
    fits.next();
    expect(fits.next(versionAt10(3n, inputsOf(67n)))).toEqual({ done: true, value: undefined });

    const places = [covered, { ...covered, coveredSequence: 12 }];
    const late = strayCheckpoint(contextOf(), 0, logAt185(), () => places.shift());
    late.next();
    expect(late.next({ kind: "read", tag: "", record: undefined }).value).toBeUndefined();
  });

  it("does not look at one of an epoch that is over", () => {
    const former = { ...covered, epoch: 2n };
    const task = strayCheckpoint(contextOf(), 0, logAt185(), () => former);
    expect(task.next()).toEqual({ done: true, value: undefined });
  });
});
