import { createHash } from "node:crypto";
import { PARTITIONS } from "./names.ts";

/** The partition of a workload: first 4 bytes of SHA-256 of its id, big-endian, modulo 64. */
export function partitionOf(workload: string): number {
  return createHash("sha256").update(workload).digest().readUInt32BE(0) % PARTITIONS;
}
