import { LabelsError, matches, parseSelector, type SelectorSpec } from "@ringwall/labels";
import type { WorkloadFilter } from "@ringwall/wire";
import type { Filterable } from "../former-states.ts";

/** A filter ready for use: every part that is given must hold. */
export interface CompiledFilter {
  readonly ids: ReadonlySet<string> | undefined;
  readonly selector: SelectorSpec | undefined;
  readonly services: ReadonlySet<string> | undefined;
  /** Equal for filters that say the same. */
  readonly key: string;
}

/**
 * Compiles a filter; an absent part means any. The selector speaks of source labels.
 *
 * Throws LabelsError `selector-syntax`.
 */
export function compileFilter(filter: WorkloadFilter | undefined): CompiledFilter {
  const ids = [...new Set(filter?.ids ?? [])].sort();
  const services = [...new Set(filter?.services ?? [])].sort();
  const text = filter?.selector ?? "";
  return {
    ids: ids.length === 0 ? undefined : new Set(ids),
    selector: text.trim() === "" ? undefined : parseSelector(text),
    services: services.length === 0 ? undefined : new Set(services),
    key: JSON.stringify([ids, services, text]),
  };
}

/** True if the workload is in the filter. */
export function inFilter(filter: CompiledFilter, record: Filterable): boolean {
  return (
    (filter.ids === undefined || filter.ids.has(record.id)) &&
    (filter.services === undefined || serves(record, filter.services)) &&
    (filter.selector === undefined || matches(filter.selector, record.labels))
  );
}

/** Message for a filter that does not compile; rethrows what is no fault of the filter. */
export function filterFault(error: unknown): string {
  if (error instanceof LabelsError) {
    return error.message;
  }
  throw error;
}

function serves(record: Filterable, services: ReadonlySet<string>): boolean {
  return record.rows.some((row) => services.has(row.service));
}
