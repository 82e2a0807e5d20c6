import {
  combineRank,
  compareRank,
  type Dataplane,
  dataplaneMatches,
  destinations,
  endpoints,
  type Inbound,
  type Rank,
  type Route,
  type RouteLists,
  rank,
  type Split,
  select,
  selectorMatches,
  type Tags,
  validateRoute,
} from "@ringwall/routes";
import { bind, type Family } from "./family.ts";

/** A dataplane as vectors write it: inbounds are their tags. */
interface Caller {
  readonly mesh?: string;
  readonly inbound: readonly Tags[];
  readonly outbound: readonly string[];
}

interface Server {
  readonly mesh?: string;
  readonly inbound: readonly Inbound[];
}

function dataplaneOf({ mesh, inbound, outbound }: Caller): Dataplane {
  const inbounds = inbound.map((tags) => ({ tags }));
  return { ...(mesh === undefined ? {} : { mesh }), inbounds, outbounds: outbound };
}

function serverOf({ mesh, inbound }: Server) {
  return { ...(mesh === undefined ? {} : { mesh }), inbounds: inbound };
}

/** Routes may be written without their lists. */
function routeOf(route: Pick<Route, "name"> & Partial<Route>): Route {
  return { sources: [], destinations: [], split: [], ...route };
}

function selectedNames(caller: Caller, routes: readonly Route[]): Record<string, string> {
  const selected = [...select(dataplaneOf(caller), routes.map(routeOf))];
  return Object.fromEntries(
    selected.map(([service, { route }]) => [service, route?.name ?? "(implicit)"]),
  );
}

function bucketsOf(
  caller: Caller,
  selected: Readonly<Record<string, readonly Split[]>>,
): Record<string, Tags[]> {
  const entries = Object.entries(selected);
  const splits = new Map(entries.map(([service, split]) => [service, { split }]));
  return Object.fromEntries(destinations(caller.outbound, splits).buckets);
}

function served(
  buckets: Readonly<Record<string, readonly Tags[]>>,
  servers: readonly Server[],
): Record<string, Inbound[]> {
  const found = endpoints(new Map(Object.entries(buckets)), servers.map(serverOf));
  return Object.fromEntries(found.byService);
}

/** `routes.*`, bound to @ringwall/routes. */
export const routes: Family = {
  selectorMatches: bind((input: { readonly selector: Tags; readonly tags: Tags }) =>
    selectorMatches(input.selector, input.tags),
  ),
  rank: bind(({ selector }: { readonly selector: Tags }) => rank(selector)),
  compareRank: bind(({ a, b }: { readonly a: Rank; readonly b: Rank }) => compareRank(a, b)),
  combineRank: bind(({ a, b }: { readonly a: Rank; readonly b: Rank }) => combineRank(a, b)),
  dataplaneMatches: bind((input: { readonly inbound: readonly Tags[]; readonly selector: Tags }) =>
    dataplaneMatches(
      input.inbound.map((tags) => ({ tags })),
      input.selector,
    ),
  ),
  select: bind((input: { readonly dataplane: Caller; readonly routes: readonly Route[] }) =>
    selectedNames(input.dataplane, input.routes),
  ),
  destinations: bind(
    (input: {
      readonly dataplane: Caller;
      readonly selected: Readonly<Record<string, readonly Split[]>>;
    }) => bucketsOf(input.dataplane, input.selected),
  ),
  endpoints: bind(
    (input: {
      readonly destinations: Readonly<Record<string, readonly Tags[]>>;
      readonly dataplanes: readonly Server[];
    }) => served(input.destinations, input.dataplanes),
  ),
  validate: bind(({ route }: { readonly route: RouteLists }) =>
    validateRoute(route).map(({ path, code }) => ({ path, code })),
  ),
};
