import type { Registry } from "../registry.ts";
import type { CompiledFilter } from "./workload-filter.ts";

/**
 * Ids that may be in a filter, in byte order, from the narrowest index that it names; undefined if
 * every workload may be. Each still has to be held against the filter.
 */
export function candidates(registry: Registry, filter: CompiledFilter): string[] | undefined {
  const { indexes } = registry;
  const sources: (readonly ReadonlySet<string>[])[] = [];
  if (filter.ids !== undefined) {
    sources.push([filter.ids]);
  }
  if (filter.services !== undefined) {
    sources.push([...filter.services].map((service) => indexes.servers(service)));
  }
  for (const [key, values] of Object.entries(filter.selector ?? {})) {
    sources.push(values.map((value) => indexes.labelled(key, value)));
  }
  const [narrowest] = sources.sort((a, b) => total(a) - total(b));
  return narrowest === undefined
    ? undefined
    : [...new Set(narrowest.flatMap((ids) => [...ids]))].sort();
}

function total(sets: readonly ReadonlySet<string>[]): number {
  return sets.reduce((sum, { size }) => sum + size, 0);
}
