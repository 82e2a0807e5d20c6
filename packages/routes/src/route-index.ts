import { compareRoutes, DEFAULT_MESH, type Route } from "./model.ts";
import { combineRank, compareRank, higherRank, type Rank, rank } from "./rank.ts";
import { SERVICE_TAG, serviceOf, type Tags, WILDCARD } from "./tags.ts";

/** A route that reaches a service through one kind of destination selector. */
export interface Candidate {
  readonly route: Route;
  /** Rank of that destination selector. */
  readonly destination: Rank;
  /** What its combined rank is at most, whatever the caller. */
  readonly bound: Rank;
}

interface Mesh {
  /** Routes with a destination `{service: <key>}`. */
  readonly exact: Map<string, Candidate[]>;
  /** Routes with a destination `{service: *}`. */
  readonly wildcard: Candidate[];
  /** Routes with the empty destination, which matches every service. */
  readonly any: Candidate[];
}

/** Where a route stands in the index. */
interface Place {
  readonly list: Candidate[];
  readonly service: string | typeof ANYTHING;
  readonly candidate: Candidate;
}

const EXACT: Rank = { exact: 1, wildcard: 0 };
const ANY_SERVICE: Rank = { exact: 0, wildcard: 1 };
const ANYTHING: Rank = { exact: 0, wildcard: 0 };

/**
 * Routes indexed by mesh and destination service, built once and asked for every dataplane.
 *
 * An outbound offers nothing but its service tag, so a destination selector can only match as
 * `{service: X}`, `{service: *}` or `{}`; one with any other key matches no service and is left
 * out. Candidates lie in descending order of the rank that they can reach, so that a search ends at
 * the first one that can't win any more.
 */
export class RouteIndex {
  readonly #meshes = new Map<string, Mesh>();

  constructor(routes: Iterable<Route> = []) {
    for (const route of routes) {
      for (const { list, candidate } of this.#placesOf(route)) list.push(candidate);
    }
    for (const { exact, wildcard, any } of this.#meshes.values()) {
      for (const candidates of [...exact.values(), wildcard, any]) candidates.sort(candidateOrder);
    }
  }

  /** Candidates for a service in a mesh: up to three lists, each with the highest bound first. */
  candidates(mesh: string | undefined, service: string): readonly (readonly Candidate[])[] {
    const found = this.#meshes.get(mesh ?? DEFAULT_MESH);
    return found === undefined ? [] : [found.exact.get(service) ?? [], found.wildcard, found.any];
  }

  /** Adds a route to an index in use. */
  add(route: Route): void {
    for (const { list, candidate } of this.#placesOf(route)) {
      const at = list.findIndex((other) => candidateOrder(candidate, other) < 0);
      list.splice(at < 0 ? list.length : at, 0, candidate);
    }
  }

  /** Removes a route, which must be the very object that was added; an unknown one is fine. */
  remove(route: Route): void {
    const { exact } = this.#meshOf(route);
    for (const { list, service } of this.#placesOf(route)) {
      const at = list.findIndex((candidate) => candidate.route === route);
      if (at >= 0) list.splice(at, 1);
      if (list.length === 0 && typeof service === "string") exact.delete(service);
    }
  }

  #placesOf(route: Route): Place[] {
    const best = route.sources.map(rank).reduce<Rank | undefined>(higherRank, undefined);
    if (best === undefined) return [];
    const mesh = this.#meshOf(route);
    return [...new Set(route.destinations.map(reach))].flatMap((service) => {
      if (service === undefined) return [];
      const destination =
        service === ANYTHING ? ANYTHING : service === WILDCARD ? ANY_SERVICE : EXACT;
      const candidate = { route, destination, bound: combineRank(best, destination) };
      return { list: listOf(mesh, service), service, candidate };
    });
  }

  #meshOf(route: Route): Mesh {
    const name = route.mesh ?? DEFAULT_MESH;
    let mesh = this.#meshes.get(name);
    if (mesh === undefined) {
      mesh = { exact: new Map(), wildcard: [], any: [] };
      this.#meshes.set(name, mesh);
    }
    return mesh;
  }
}

/** Best rank among the destination selectors that match a service; undefined if none does. */
export function destinationRank(destinations: readonly Tags[], service: string): Rank | undefined {
  let best: Rank | undefined;
  for (const destination of destinations) {
    const reached = reach(destination);
    if (reached === ANYTHING || reached === WILDCARD || reached === service) {
      best = higherRank(best, rank(destination));
    }
  }
  return best;
}

/** Services that a route can be chosen for; undefined stands for every service. */
export function servicesReached(route: Route): ReadonlySet<string> | undefined {
  const services = new Set<string>();
  for (const service of route.destinations.map(reach)) {
    if (service === ANYTHING || service === WILDCARD) return undefined;
    if (typeof service === "string") services.add(service);
  }
  return services;
}

/** Service that a destination selector names, `*`, ANYTHING for the empty one, else undefined. */
function reach(destination: Tags): string | typeof ANYTHING | undefined {
  const keys = Object.keys(destination);
  if (keys.length === 0) return ANYTHING;
  return keys.length === 1 && keys[0] === SERVICE_TAG ? serviceOf(destination) : undefined;
}

function listOf(mesh: Mesh, service: string | typeof ANYTHING): Candidate[] {
  if (typeof service !== "string") return mesh.any;
  if (service === WILDCARD) return mesh.wildcard;
  let list = mesh.exact.get(service);
  if (list === undefined) {
    list = [];
    mesh.exact.set(service, list);
  }
  return list;
}

function candidateOrder(a: Candidate, b: Candidate): number {
  return compareRank(b.bound, a.bound) || compareRoutes(a.route, b.route);
}
