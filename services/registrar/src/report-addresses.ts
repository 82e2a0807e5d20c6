import { create } from "@bufbuild/protobuf";
import { usableAddresses } from "@ringwall/endpointmeta";
import { type RowProblem, RowProblemSchema } from "@ringwall/wire";
import type { Reading } from "./report-rows.ts";
import type { Scopes } from "./scopes.ts";

/**
 * Reads the addresses of a report: those that no peer could use (loopback, link-local, …) are
 * dropped silently, foreign ones are refused and reported.
 */
export function readAddresses(
  reported: readonly string[],
  namespace: string,
  scopes: Scopes,
): Reading<string> {
  const usable = usableAddresses(reported);
  const values = usable.filter((address) => scopes.allowsAddress(namespace, address));
  const problems = usable
    .filter((address) => !values.includes(address))
    .map((address) => foreignAddress(address, namespace));
  return { values, problems };
}

function foreignAddress(value: string, namespace: string): RowProblem {
  const message = `address ${value} lies in no subnet of scope ${namespace}; widen the scope or correct the host`;
  return create(RowProblemSchema, { code: "address_not_allowed", value, message, refused: true });
}
