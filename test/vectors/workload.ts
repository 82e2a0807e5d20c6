import { type InterfaceAddresses, workloadAddresses } from "@ringwall/endpointmeta";
import { bind, type Family } from "./family.ts";

/** `workload.*`, bound to @ringwall/endpointmeta. */
export const workload: Family = {
  addresses: bind(({ interfaces }: { readonly interfaces: readonly InterfaceAddresses[] }) =>
    workloadAddresses(interfaces),
  ),
};
