import { sourceRank } from "./dataplane-matches.ts";
import { compareRoutes, type Dataplane, DEFAULT_MESH, type Route, routeName } from "./model.ts";
import { combineRank, compareRank, type Rank } from "./rank.ts";
import { destinationRank } from "./route-index.ts";

/**
 * What became of a route: `selected`; `less-specific` a lower rank; `later-name` the same rank but
 * a later namespace or name; `no-source` no source matches the dataplane; `no-destination` no
 * destination matches the service; `other-mesh`.
 */
export type RouteOutcome =
  | "selected"
  | "less-specific"
  | "later-name"
  | "no-source"
  | "no-destination"
  | "other-mesh";

/** One route and why it won or lost. */
export interface RouteVerdict {
  readonly route: Route;
  readonly outcome: RouteOutcome;
  /** Combined rank; absent if the route does not match. */
  readonly rank?: Rank;
  /** One sentence for people. */
  readonly reason: string;
}

/** Why an outbound leads where it does. */
export interface RouteExplanation {
  readonly service: string;
  /** The route that won; absent if the implicit route is in force. */
  readonly selected?: Route;
  /**
   * Every route, the winner first, then the others that match by falling rank and rising name, then
   * those that do not match, those of other meshes last.
   */
  readonly verdicts: readonly RouteVerdict[];
}

const ORDER: Readonly<Record<RouteOutcome, number>> = {
  selected: 0,
  "less-specific": 0,
  "later-name": 0,
  "no-source": 1,
  "no-destination": 2,
  "other-mesh": 3,
};

/**
 * Explains the selection of one outbound service: every route with its rank and why it lost. By the
 * rules of `select` and always of one mind with it; works on all routes, so it is meant for a
 * question at a time.
 */
export function explainRoute(
  dataplane: Pick<Dataplane, "mesh" | "inbounds">,
  service: string,
  routes: Iterable<Route>,
): RouteExplanation {
  const judged = [...routes].map((route) => judge(dataplane, service, route));
  const matching = judged.filter(hasRank).sort(byRank);
  const winner = matching[0];
  const verdicts = judged.map((each) =>
    winner !== undefined && hasRank(each) ? compare(each, winner) : each,
  );
  verdicts.sort(verdictOrder);
  return winner === undefined
    ? { service, verdicts }
    : { service, selected: winner.route, verdicts };
}

type Ranked = RouteVerdict & { readonly rank: Rank };

function hasRank(verdict: RouteVerdict): verdict is Ranked {
  return verdict.rank !== undefined;
}

function judge(
  dataplane: Pick<Dataplane, "mesh" | "inbounds">,
  service: string,
  route: Route,
): RouteVerdict {
  const mesh = route.mesh ?? DEFAULT_MESH;
  const own = dataplane.mesh ?? DEFAULT_MESH;
  if (mesh !== own) {
    const reason = `it belongs to mesh ${mesh}, the dataplane to ${own}`;
    return { route, outcome: "other-mesh", reason };
  }
  const destination = destinationRank(route.destinations, service);
  if (destination === undefined) {
    const reason = `no destination selector matches service ${service}`;
    return { route, outcome: "no-destination", reason };
  }
  const source = sourceRank(route.sources, dataplane.inbounds);
  if (source === undefined) {
    const reason = "no source selector matches a single inbound of the dataplane";
    return { route, outcome: "no-source", reason };
  }
  const rank = combineRank(source, destination);
  return { route, outcome: "selected", rank, reason: `most specific: ${rankText(rank)}` };
}

function compare(verdict: Ranked, winner: Ranked): RouteVerdict {
  if (verdict.route === winner.route) return verdict;
  const name = routeName(winner.route);
  if (compareRank(verdict.rank, winner.rank) === 0) {
    const reason = `as specific as ${name}, which comes first by namespace and name`;
    return { ...verdict, outcome: "later-name", reason };
  }
  const reason = `${rankText(verdict.rank)}, less specific than ${rankText(winner.rank)} of ${name}`;
  return { ...verdict, outcome: "less-specific", reason };
}

function byRank(a: Ranked, b: Ranked): number {
  return compareRank(b.rank, a.rank) || compareRoutes(a.route, b.route);
}

function verdictOrder(a: RouteVerdict, b: RouteVerdict): number {
  if (hasRank(a) && hasRank(b)) return byRank(a, b);
  return ORDER[a.outcome] - ORDER[b.outcome] || compareRoutes(a.route, b.route);
}

function rankText({ exact, wildcard }: Rank): string {
  const total = exact + wildcard;
  return `${total} ${total === 1 ? "tag" : "tags"} (${exact} exact, ${wildcard} wildcard)`;
}
