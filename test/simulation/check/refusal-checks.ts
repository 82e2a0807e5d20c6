import { fromBinary } from "@bufbuild/protobuf";
import { AckStatus, type Down, DownSchema, UpSchema } from "@ringwall/wire";
import type { Host } from "../world/host.ts";
import { hex, short } from "./hex.ts";
import { Violation } from "./violation.ts";

/** What gateways know of one refused body of one workload. */
interface Refusal {
  /** Gateway lives that have heard of it, with the first session in which that counts. */
  readonly knownBy: Map<string, bigint>;
  /** Pushes of it by gateways that knew. */
  sent: number;
  /** One for every session that was opened by a Hello from before the refusal. */
  allowed: number;
}

/** Watches what gateways hear of refusals and what they send all the same. */
export class RefusalChecks {
  readonly #refusals = new Map<string, Refusal>();
  /** The last Hello of each workload, with the gateway lives that were handed it. */
  readonly #hellos = new Map<string, { readonly nonce: bigint; readonly takers: Set<string> }>();
  /** The last session of each gateway life with a workload. */
  readonly #sessions = new Map<string, bigint>();

  /**
   * A gateway takes in something that an agent said; its host says what is true by now. A Hello that is
   * only overheard ends the session that the gateway has: what it sends there does not reach the host.
   */
  heard(gateway: string, host: Host, payload: Uint8Array, isOverheard: boolean): void {
    const { workload } = host;
    const { body } = fromBinary(UpSchema, payload);
    if (body.case === "hello") {
      const told = body.value.refusedDigests.map(hex);
      this.#handed(gateway, workload, body.value.nonce);
      const ended = isOverheard ? this.#sessions.get(`${gateway} ${workload}`) : undefined;
      for (const digest of told) {
        this.#know(gateway, workload, digest, (ended ?? -1n) + 1n);
      }
      for (const digest of host.refusedStored.filter((each) => !told.includes(each))) {
        // It waited in a frozen gateway, or came twice: nobody can know better by it.
        this.#refusal(workload, digest).allowed += 1;
      }
    } else if (body.case === "ack" && body.value.status === AckStatus.REFUSED) {
      const digest = hex(body.value.digest);
      this.#know(gateway, workload, digest, 0n);
      // A Hello that came twice opened two sessions: each hears of the refusal of its own push.
      const refusal = this.#refusal(workload, digest);
      const sessions = this.#hellos.get(workload)?.takers.size ?? 1;
      refusal.allowed = Math.max(refusal.allowed, sessions);
    }
  }

  /** A gateway pushes something. */
  pushed(gateway: string, payload: Uint8Array): Down {
    const down = fromBinary(DownSchema, payload);
    const { body } = down;
    this.#sessions.set(`${gateway} ${down.workloadId}`, down.session);
    if (body.case !== "snapshot" && body.case !== "delta" && body.case !== "chunk") {
      return down;
    }
    const digest = hex(down.digest);
    const refusal = this.#refusals.get(`${down.workloadId} ${digest}`);
    const since = refusal?.knownBy.get(gateway);
    if (refusal === undefined || since === undefined || down.session < since) {
      return down;
    }
    const words = `${gateway} sends ${short(digest)} to ${down.workloadId}, which refused it`;
    // A session that a Hello from before the refusal has opened may send it in any form.
    if (body.case === "delta" && refusal.allowed === 1) {
      throw new Violation("I7", `${words}, as a delta`);
    }
    refusal.sent += 1;
    if (refusal.sent > refusal.allowed) {
      throw new Violation("I7", `${words}, for the ${refusal.sent}th time`);
    }
    return down;
  }

  /** A host took a body that it refused once, or forgot that it refused it. */
  settle(host: Host): void {
    for (const key of this.#refusals.keys()) {
      const [workload, digest] = key.split(" ");
      const remembered = host.refusedStored.some((each) => each === digest);
      if (workload === host.workload && !remembered) {
        this.#refusals.delete(key);
      }
    }
  }

  #handed(gateway: string, workload: string, nonce: bigint): void {
    let hello = this.#hellos.get(workload);
    if (hello?.nonce !== nonce) {
      hello = { nonce, takers: new Set() };
      this.#hellos.set(workload, hello);
    }
    hello.takers.add(gateway);
  }

  #know(gateway: string, workload: string, digest: string, session: bigint): void {
    const { knownBy } = this.#refusal(workload, digest);
    const known = knownBy.get(gateway);
    knownBy.set(gateway, known === undefined || session < known ? session : known);
  }

  #refusal(workload: string, digest: string): Refusal {
    const key = `${workload} ${digest}`;
    let refusal = this.#refusals.get(key);
    if (refusal === undefined) {
      refusal = { knownBy: new Map(), sent: 0, allowed: 1 };
      this.#refusals.set(key, refusal);
    }
    return refusal;
  }
}
