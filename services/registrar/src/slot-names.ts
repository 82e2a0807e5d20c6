import { PARTITIONS } from "@ringwall/bus";

/** Slot of the registrar that counts leases. */
export const LEASE_SLOT = "registrar.leases";

/** Every slot of the registrars: one for each partition, and the leases. */
export const SLOT_NAMES: readonly string[] = [
  ...Array.from({ length: PARTITIONS }, (_, partition) => `registrar.${partition}`),
  LEASE_SLOT,
];
