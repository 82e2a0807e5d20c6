import { fromBinary } from "@bufbuild/protobuf";
import type { Message } from "@ringwall/actor";
import { ClaimRequestSchema } from "@ringwall/wire";
import { count, type KeeperContext } from "../context.ts";
import { type OwnerPorts, PartitionOwner } from "./partition-owner.ts";
import type { VersionLog } from "./version-log.ts";

/** Slot of a partition. */
export function partitionSlot(partition: number): string {
  return `keeper.${partition}`;
}

const LISTENER = "claim.";
const READER = "rendered.";

/** The partitions that this instance may own, and those that it serves now. */
export class PartitionOwners {
  readonly #context: KeeperContext;
  readonly #owners: readonly PartitionOwner[];

  constructor(context: KeeperContext, versions: VersionLog, ports: OwnerPorts) {
    this.#context = context;
    this.#owners = versions.partitions.map(
      (log, partition) => new PartitionOwner(context, partition, log, ports),
    );
  }

  /** Partitions that are served now. */
  running(): number[] {
    return this.#owners.flatMap((owner, partition) => (owner.isRunning ? [partition] : []));
  }

  /** Serves exactly the partitions for which `wanted` holds. */
  update(wanted: (partition: number) => boolean): void {
    for (const [partition, owner] of this.#owners.entries()) {
      const wants = wanted(partition);
      if (wants && !owner.isRunning) {
        owner.start();
        this.#context.outbox.add({
          kind: "listen",
          listener: `${LISTENER}${partition}`,
          subject: `${this.#context.names.internal("version", "claim")}.${partition}`,
        });
      } else if (!wants && owner.isRunning) {
        this.stop(partition);
      }
    }
  }

  /** Ends serving a partition. */
  stop(partition: number): void {
    const owner = this.#owners[partition];
    if (owner?.isRunning === true) {
      owner.stop();
      this.#context.outbox.add({ kind: "unlisten", listener: `${LISTENER}${partition}` });
    }
  }

  /** The connection was away, and the store may be another one. */
  reconnected(): void {
    for (const owner of this.#owners) {
      owner.reconnected();
    }
  }

  /** Lets a partition's owner look around. */
  wake(partition: number): void {
    this.#owners[partition]?.wake();
  }

  /** Lets every owner look around. */
  wakeAll(): void {
    for (const owner of this.#owners) {
      owner.wake();
    }
  }

  /** Takes a message if it is a partition's. */
  take(message: Message): boolean {
    switch (message.kind) {
      case "record":
        return this.#of(message.reader, READER, (owner) => {
          owner.take(message.reader, message.record);
        });
      case "reader-lost":
        return this.#of(message.reader, READER, (owner) => owner.readerLost(message.reader));
      case "delivery":
        return this.#of(message.listener, LISTENER, (owner) => this.#claim(owner, message));
      default:
        return false;
    }
  }

  #of(id: string, prefix: string, call: (owner: PartitionOwner) => void): boolean {
    if (!id.startsWith(prefix)) {
      return false;
    }
    const owner = this.#owners[Number(id.slice(prefix.length).split(".")[0])];
    if (owner?.isRunning === true) {
      call(owner);
    }
    return true;
  }

  #claim(owner: PartitionOwner, delivery: Extract<Message, { readonly kind: "delivery" }>): void {
    if (delivery.replyTo === undefined) {
      return;
    }
    try {
      owner.claim(fromBinary(ClaimRequestSchema, delivery.payload), delivery.replyTo);
    } catch {
      count(this.#context, "ringwall_claims_malformed_total");
    }
  }
}
