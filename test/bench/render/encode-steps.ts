import type { BodyChanges } from "@ringwall/render";

/** Room for every delta of one flush; used again by the next one. */
const slab = new Uint8Array(64 * 1024 * 1024);

const FROM_VERSION = 0x08;
const TO_VERSION = 0x10;

/** What was encoded. */
export interface Encoded {
  readonly workloads: number;
  readonly steps: number;
  readonly bytes: number;
}

/** Encodes the PolicyDelta of every affected workload: its versions and the shared changes. */
export function encodeSteps({ steps }: BodyChanges, version: number): Encoded {
  let at = 0;
  let workloads = 0;
  for (const step of steps) {
    const changes = step.delta() ?? new Uint8Array();
    for (let index = 0; index < step.workloads.length; index++) {
      at = varint(FROM_VERSION, version, at);
      at = varint(TO_VERSION, version + 1, at);
      slab.set(changes, at);
      at += changes.length;
    }
    workloads += step.workloads.length;
  }
  return { workloads, steps: steps.length, bytes: at };
}

function varint(tag: number, value: number, start: number): number {
  let at = start;
  slab[at++] = tag;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) {
    slab[at++] = (rest & 0x7f) | 0x80;
  }
  slab[at++] = rest;
  return at;
}
