import { fromBinary } from "@bufbuild/protobuf";
import type { StoredRecord } from "@ringwall/actor";
import { VersionRecordSchema } from "@ringwall/wire";
import { toHex } from "../log/hex.ts";
import { isBelow } from "../log/inputs.ts";
import { PartitionLog } from "../versions/partition-log.ts";

/** Checks a log of versions record by record; throws with the sequence of the first that is wrong. */
export class VersionChecker {
  readonly logs = new Map<string, PartitionLog>();

  /** Takes the next record. */
  take(stored: StoredRecord): void {
    const { subject, sequence, payload } = stored;
    const log = this.logs.get(subject) ?? new PartitionLog(1_000);
    this.logs.set(subject, log);
    const { record } = fromBinary(VersionRecordSchema, payload);
    const must = (holds: boolean, what: string) => {
      if (!holds) {
        throw new Error(`${subject}@${sequence}: ${what}`);
      }
    };
    if (record.case === "batch") {
      const { epoch, inputs, rendered, steps, tombstones } = record.value;
      must(epoch === log.epoch, `epoch ${epoch}, the log's is ${log.epoch}`);
      must(inputs !== undefined, "no inputs");
      must(
        inputs === undefined || log.inputs === undefined || !isBelow(inputs, log.inputs),
        "inputs go back",
      );
      const last = log.rendered?.sequence ?? 0;
      must(Number(rendered?.sequence ?? 0) > last, `RENDERED position behind ${last}`);
      for (const { fromDigest, toDigest, advances } of steps) {
        must(toHex(fromDigest) !== toHex(toDigest), "a step to the same body");
        for (const { workload, fromVersion, toVersion } of advances) {
          const head = log.heads.get(workload) ?? { version: 0, digest: "" };
          must(Number(fromVersion) === head.version, `${workload} from ${fromVersion}`);
          must(toVersion === fromVersion + 1n, `${workload} to ${toVersion}`);
          must(toHex(fromDigest) === head.digest, `${workload} from another body`);
        }
      }
      for (const { workload, version } of tombstones) {
        must(log.heads.get(workload)?.version === Number(version), `${workload} gone@${version}`);
        must(log.heads.get(workload)?.digest !== "", `${workload} gone twice`);
      }
    } else if (record.case === "epochBegin") {
      must(record.value.epoch > log.epoch, `epoch ${record.value.epoch} after ${log.epoch}`);
      for (const { workload, version } of record.value.heads) {
        const before = log.heads.get(workload)?.version ?? 0;
        must(Number(version) >= before, `${workload} back to ${version} from ${before}`);
      }
    }
    must(log.take(record, sequence, stored.timeUnixMs), "the record does not count");
  }
}
