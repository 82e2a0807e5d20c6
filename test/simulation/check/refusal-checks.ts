import { fromBinary } from "@bufbuild/protobuf";
import { AckStatus, type Down, DownSchema, UpSchema } from "@ringwall/wire";
import type { Host } from "../world/host.ts";
import { hex, short } from "./hex.ts";
import { Violation } from "./violation.ts";

/** What gateways know of one refused body of one workload. */
interface Refusal {
  /** Gateway lives that have heard of it. */
  readonly knownBy: Set<string>;
  /** Pushes of it by gateways that knew. */
  sent: number;
}

/** Watches what gateways hear of refusals and what they send all the same. */
export class RefusalChecks {
  readonly #refusals = new Map<string, Refusal>();

  /** A gateway takes in something that an agent said. */
  heard(gateway: string, workload: string, payload: Uint8Array): void {
    const { body } = fromBinary(UpSchema, payload);
    if (body.case === "hello") {
      for (const digest of body.value.refusedDigests) {
        this.#know(gateway, workload, hex(digest));
      }
    } else if (body.case === "ack" && body.value.status === AckStatus.REFUSED) {
      this.#know(gateway, workload, hex(body.value.digest));
    }
  }

  /** A gateway pushes something. */
  pushed(gateway: string, payload: Uint8Array): Down {
    const down = fromBinary(DownSchema, payload);
    const { body } = down;
    if (body.case !== "snapshot" && body.case !== "delta" && body.case !== "chunk") {
      return down;
    }
    const digest = hex(down.digest);
    const refusal = this.#refusals.get(`${down.workloadId} ${digest}`);
    if (refusal?.knownBy.has(gateway) !== true) {
      return down;
    }
    const words = `${gateway} sends ${short(digest)} to ${down.workloadId}, which refused it`;
    if (body.case === "delta") {
      throw new Violation("I7", `${words}, as a delta`);
    }
    refusal.sent += 1;
    if (refusal.sent > 1) {
      throw new Violation("I7", `${words}, for the ${refusal.sent}th time`);
    }
    return down;
  }

  /** A host took a body that it refused once, or forgot that it refused it. */
  settle(host: Host): void {
    for (const key of [...this.#refusals.keys()]) {
      const [workload, digest] = key.split(" ");
      const remembered = host.refusedStored.some((each) => each === digest);
      if (workload === host.workload && !remembered) {
        this.#refusals.delete(key);
      }
    }
  }

  #know(gateway: string, workload: string, digest: string): void {
    const key = `${workload} ${digest}`;
    const refusal = this.#refusals.get(key) ?? { knownBy: new Set<string>(), sent: 0 };
    refusal.knownBy.add(gateway);
    this.#refusals.set(key, refusal);
  }
}
