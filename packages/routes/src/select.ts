import { sourceRank } from "./dataplane-matches.ts";
import { compareRoutes, type Dataplane, type Inbound, type Route, type Split } from "./model.ts";
import { combineRank, compareRank, type Rank } from "./rank.ts";
import { RouteIndex } from "./route-index.ts";
import { SERVICE_TAG } from "./tags.ts";

/** Weight of the one split of an implicit route. */
export const IMPLICIT_WEIGHT = 100;

/** What decides where an outbound leads. */
export interface Selection {
  /** The route that won; absent for the implicit one. */
  readonly route?: Route;
  /** Splits as authored, or the service itself with weight 100. */
  readonly split: readonly Split[];
}

/**
 * The route of each outbound service of a dataplane: among the routes of its mesh with a matching
 * source (the best matching source's rank counts) and a destination that matches the service, the
 * one with the highest combined rank; ties by namespace, then name, in byte order. A service that
 * no route matches has the implicit route: one split, the service itself, weight 100.
 *
 * Outbounds keep their order, repeats share one result. The result does not depend on the order of
 * routes, sources, destinations or inbounds. Pass a RouteIndex to ask for many dataplanes.
 */
export function select(
  dataplane: Dataplane,
  routes: RouteIndex | Iterable<Route>,
): Map<string, Selection> {
  const index = routes instanceof RouteIndex ? routes : new RouteIndex(routes);
  const sources = new SourceRanks(dataplane.inbounds);
  const selected = new Map<string, Selection>();
  for (const service of dataplane.outbounds) {
    if (selected.has(service)) continue;
    const route = mostSpecific(index, dataplane.mesh, service, sources);
    selected.set(service, route === undefined ? implicit(service) : { route, split: route.split });
  }
  return selected;
}

/** The selection of a service that no route matches. */
export function implicit(service: string): Selection {
  return { split: [{ weight: IMPLICIT_WEIGHT, tags: { [SERVICE_TAG]: service } }] };
}

function mostSpecific(
  index: RouteIndex,
  mesh: string | undefined,
  service: string,
  sources: SourceRanks,
): Route | undefined {
  let best: { readonly route: Route; readonly rank: Rank } | undefined;
  for (const list of index.candidates(mesh, service)) {
    for (const { route, destination, bound } of list) {
      if (best !== undefined && compareRank(bound, best.rank) < 0) break;
      const source = sources.of(route);
      if (source === undefined) continue;
      const rank = combineRank(source, destination);
      const order = best === undefined ? 1 : compareRank(rank, best.rank);
      if (
        best === undefined ||
        order > 0 ||
        (order === 0 && compareRoutes(route, best.route) < 0)
      ) {
        best = { route, rank };
      }
    }
  }
  return best?.route;
}

/** Source ranks of one dataplane, each computed once however many outbounds ask. */
class SourceRanks {
  readonly #inbounds: readonly Inbound[];
  readonly #known = new Map<Route, Rank | undefined>();

  constructor(inbounds: readonly Inbound[]) {
    this.#inbounds = inbounds;
  }

  of(route: Route): Rank | undefined {
    if (this.#known.has(route)) return this.#known.get(route);
    const found = sourceRank(route.sources, this.#inbounds);
    this.#known.set(route, found);
    return found;
  }
}
