import { type Names, PARTITIONS, partitionOf } from "@ringwall/bus";

/** Key of the partition's owner: not a workload id, for those have no capitals. */
export const OWNER_KEY = "OWNER";

/** What a subject of REGISTRY names. */
export type RegistryKey =
  | { readonly kind: "owner"; readonly partition: number }
  | { readonly kind: "workload"; readonly partition: number; readonly id: string };

const WORKLOAD_ID = /^[a-z0-9_-]{1,64}$/;

/** True for 1 to 64 of `[a-z0-9_-]`. */
export function isWorkloadId(text: string): boolean {
  return WORKLOAD_ID.test(text);
}

/** Reads a subject of REGISTRY's stream; undefined if no registrar wrote it. */
export function registryKey(names: Names, subject: string): RegistryKey | undefined {
  const head = names.registryAll.slice(0, -1);
  if (!subject.startsWith(head)) {
    return undefined;
  }
  const [kind, number, key, ...rest] = subject.slice(head.length).split(".");
  if (kind !== "w" || number === undefined || key === undefined || rest.length > 0) {
    return undefined;
  }
  const partition = Number(number);
  if (!/^\d{1,3}$/.test(number) || partition >= PARTITIONS) {
    return undefined;
  }
  if (key === OWNER_KEY) {
    return { kind: "owner", partition };
  }
  return isWorkloadId(key) && partitionOf(key) === partition
    ? { kind: "workload", partition, id: key }
    : undefined;
}
