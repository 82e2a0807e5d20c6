import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@ringwall/bus";
import { type VersionBatch, VersionRecordSchema } from "@ringwall/wire";
import type { Taken } from "./witness.ts";

const BATCH = 500;

interface Head {
  readonly version: bigint;
  readonly digest: string;
}

interface Partition {
  epoch: bigint;
  readonly heads: Map<string, Head>;
}

/**
 * What VERSIONS has said over all lives of the control plane, read from the stream itself: which body
 * each version is. It finds versions that are skipped, go back or are told twice.
 */
export class VersionLog {
  readonly wrong: string[] = [];
  readonly #bodies = new Map<string, string>();
  readonly #partitions = new Map<string, Partition>();
  #next = 1;

  /** Reads on from where the last reading ended. */
  async read(bus: Bus): Promise<void> {
    const stream = bus.names.stream("VERSIONS");
    const { state } = await bus.jsm.streams.info(stream);
    this.#next = Math.max(this.#next, state.first_seq);
    while (this.#next <= state.last_seq) {
      const batch = await bus.jsm.direct.getBatch(stream, { seq: this.#next, batch: BATCH });
      const before = this.#next;
      for await (const message of batch) {
        this.#take(message.subject, message.data);
        this.#next = message.seq + 1;
      }
      if (this.#next === before) throw new Error(`VERSIONS can't be read from ${before} on`);
    }
  }

  /** The log begins anew or is older than it was: what it said before still holds. */
  replaced(): void {
    this.#next = 1;
    this.#partitions.clear();
  }

  /** What agents took that the log does not say. */
  strange(taken: readonly Taken[]): string[] {
    return taken.flatMap(({ workload, epoch, version, digest }) => {
      const body = this.#bodies.get(`${workload} ${epoch} ${version}`);
      return body === digest
        ? []
        : [`${workload} ${epoch}/${version} is ${body ?? "not"} in the log`];
    });
  }

  #take(subject: string, bytes: Uint8Array): void {
    const partition = this.#partitions.get(subject) ?? { epoch: 0n, heads: new Map() };
    this.#partitions.set(subject, partition);
    const { record } = fromBinary(VersionRecordSchema, bytes);
    if (record.case === "epochBegin") {
      const { epoch, heads } = record.value;
      if (epoch < partition.epoch) this.wrong.push(`${subject}: epoch ${epoch} goes back`);
      if (epoch > partition.epoch) partition.heads.clear();
      partition.epoch = epoch;
      for (const { workload, version, digest } of heads) {
        this.#name(partition, workload, { version, digest: hex(digest) });
      }
    } else if (record.case === "batch" && record.value.epoch === partition.epoch) {
      this.#advance(partition, record.value);
    }
  }

  #advance(partition: Partition, { steps }: VersionBatch): void {
    for (const step of steps) {
      const [from, to] = [hex(step.fromDigest), hex(step.toDigest)];
      for (const { workload, fromVersion, toVersion } of step.advances) {
        const head = partition.heads.get(workload);
        const follows =
          head === undefined || (head.version === fromVersion && head.digest === from);
        if (!follows || toVersion <= fromVersion) {
          this.wrong.push(`${workload} ${toVersion} does not follow ${head?.version ?? 0n}`);
        }
        this.#name(partition, workload, { version: toVersion, digest: to });
      }
    }
  }

  #name(partition: Partition, workload: string, head: Head): void {
    partition.heads.set(workload, head);
    const key = `${workload} ${partition.epoch} ${head.version}`;
    const known = this.#bodies.get(key);
    if (known !== undefined && known !== head.digest) this.wrong.push(`${key} has two bodies`);
    this.#bodies.set(key, head.digest);
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
