import { create, toBinary } from "@bufbuild/protobuf";
import { Outbox, Tasks } from "@ringwall/actor";
import { names } from "@ringwall/bus";
import { VersionRecordSchema } from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { DEFAULT_OPTIONS, type KeeperContext } from "../context.ts";
import { catchUpVersions, epochReason } from "./open-partition.ts";
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
    expect(end).toEqual({ done: true, value: { sequence: 7, epoch: 8n } });
    expect(epochReason(log, { sequence: 7, epoch: 8n })).toContain("epoch 8");
  });
});
