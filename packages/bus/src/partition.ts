import { hash } from "node:crypto";
import { PARTITIONS } from "./names.ts";

/** The partition of a workload: first 4 bytes of SHA-256 of its id, big-endian, modulo 64. */
export function partitionOf(workload: string): number {
  // 64 divides 256, so the last of the four bytes decides; one call without objects is the fastest.
  return hash("sha256", workload, "binary").charCodeAt(3) % PARTITIONS;
}
