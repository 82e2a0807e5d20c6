import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Effect, Message, Moment, Reducer } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";
import {
  type BodyAssignment,
  FullBatchWantSchema,
  type Inputs,
  RenderBatchSchema,
} from "@ringwall/wire";
import { inputsAt } from "./stub-renderer.ts";

/**
 * Stands for the renderer of one partition in simulations: changes bodies at random, one batch at a
 * time, and sends the full one when it is wanted. Never crashes: what it last said is the truth.
 */
export class Feeder implements Reducer {
  readonly partition: number;
  /** Body of each workload that is there. */
  readonly bodies = new Map<string, string>();
  /** While false only what is wanted is sent. */
  changes = true;
  readonly #names: Names;
  readonly #inputs: Inputs;
  readonly #workloads: readonly string[];
  #wanted = true;
  #revision = 1;
  #busy: Effect | undefined;

  constructor(names: Names, inputs: Inputs, partition: number, workloads: readonly string[]) {
    this.#names = names;
    this.#inputs = inputs;
    this.partition = partition;
    this.#workloads = workloads;
  }

  step(message: Message, moment: Moment): Effect[] {
    switch (message.kind) {
      case "start": {
        const subject = this.#names.internal("batch", "want");
        return [{ kind: "listen", listener: "want", subject }, this.#again(moment)];
      }
      case "delivery": {
        const { partition } = fromBinary(FullBatchWantSchema, message.payload);
        this.#wanted ||= partition === this.partition;
        return [];
      }
      case "appended":
        this.#busy = undefined;
        return [];
      case "failed":
        return this.#busy === undefined ? [] : [this.#busy];
      case "timer":
        return [...this.#emit(moment), this.#again(moment)];
      default:
        return [];
    }
  }

  #again({ random }: Moment): Effect {
    return { kind: "timer", id: "next", delayMs: 40 + random() * 150 };
  }

  #emit({ random }: Moment): Effect[] {
    if (this.#busy !== undefined || !(this.#wanted || this.changes)) {
      return [];
    }
    const { changed, removed } = this.#change(random);
    const full = this.#wanted || random() < 0.1;
    this.#wanted = false;
    this.#revision += 1;
    const named = full ? [...this.bodies.keys()] : changed;
    const set = named.map((workload): BodyAssignment => {
      const digest = new Uint8Array(Buffer.from(this.bodies.get(workload) ?? "", "hex"));
      return { $typeName: "ringwall.v1.BodyAssignment", digest, workloads: [workload] };
    });
    const batch = create(RenderBatchSchema, {
      inputs: inputsAt(this.#inputs, this.#revision),
      full,
      count: 1,
      set,
      removed: full ? [] : removed,
    });
    this.#busy = {
      kind: "append",
      tag: "batch",
      stream: "RENDERED",
      subject: this.#names.rendered(this.partition),
      payload: toBinary(RenderBatchSchema, batch),
    };
    return [this.#busy];
  }

  #change(random: () => number): { changed: string[]; removed: string[] } {
    const changed: string[] = [];
    const removed: string[] = [];
    for (const workload of this.changes ? this.#workloads : []) {
      const roll = random();
      if (roll < 0.15) {
        if (this.bodies.delete(workload)) {
          removed.push(workload);
        }
      } else if (roll < 0.6) {
        const body = Math.floor(random() * 4).toString(16);
        this.bodies.set(workload, body.repeat(64));
        changed.push(workload);
      }
    }
    return { changed, removed };
  }
}
