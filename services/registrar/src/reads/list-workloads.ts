import { create } from "@bufbuild/protobuf";
import {
  type ListWorkloadsRequest,
  type ListWorkloadsResponse,
  ListWorkloadsResponseSchema,
  type RefusedRow,
  type WorkloadRecord,
} from "@ringwall/wire";
import type { Registry } from "../registry.ts";
import type { StoredWorkload } from "../stored-workload.ts";
import { candidates } from "./candidates.ts";
import { PAGE_BYTES, pageLimit } from "./page.ts";
import { type CompiledFilter, compileFilter, inFilter } from "./workload-filter.ts";

/**
 * One page of workloads from the fold, in byte order of their ids. Refused rows are left out of the
 * records; `include_refused` lists them beside, for the same workloads.
 *
 * Throws LabelsError `selector-syntax`.
 */
export function listWorkloads(
  registry: Registry,
  request: ListWorkloadsRequest,
): ListWorkloadsResponse {
  const filter = compileFilter(request.filter);
  const limit = pageLimit(request.limit);
  const workloads: WorkloadRecord[] = [];
  const refused: RefusedRow[] = [];
  let bytes = 0;
  let more = false;
  for (const stored of workloadsAfter(registry, filter, request)) {
    if (!inFilter(filter, stored.record)) {
      continue;
    }
    if (workloads.length === limit || (workloads.length > 0 && bytes + stored.bytes > PAGE_BYTES)) {
      more = true;
      break;
    }
    bytes += stored.bytes;
    workloads.push(stored.served);
    if (request.includeRefused || request.onlyRefused) {
      refused.push(...stored.refused);
    }
  }
  const revision = BigInt(registry.revision);
  return create(ListWorkloadsResponseSchema, { revision, workloads, refused, more });
}

/** Workloads after `after` that the narrowest index of the request gives, in order. */
function* workloadsAfter(
  registry: Registry,
  filter: CompiledFilter,
  { after, onlyRefused }: ListWorkloadsRequest,
): IterableIterator<StoredWorkload> {
  const { indexes } = registry;
  const named = onlyRefused ? [...indexes.withRefused].sort() : candidates(registry, filter);
  const ids = named?.filter((id) => id > after) ?? indexes.ids.all();
  const start = named === undefined ? indexes.ids.firstAfter(after) : 0;
  for (let index = start; index < ids.length; index += 1) {
    const stored = registry.get(ids[index] ?? "");
    if (stored !== undefined) {
      yield stored;
    }
  }
}
