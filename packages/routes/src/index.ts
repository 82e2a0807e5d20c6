export { dataplaneMatches } from "./dataplane-matches.ts";
export { type Destinations, destinations } from "./destinations.ts";
export { type Endpoints, endpoints, type Serving } from "./endpoints.ts";
export {
  explainRoute,
  type RouteExplanation,
  type RouteOutcome,
  type RouteVerdict,
} from "./explain-route.ts";
export {
  compareRoutes,
  type Dataplane,
  DEFAULT_MESH,
  type Inbound,
  type Route,
  routeName,
  type Split,
} from "./model.ts";
export { combineRank, compareRank, type Rank, rank } from "./rank.ts";
export { RouteIndex, servicesReached } from "./route-index.ts";
export { IMPLICIT_WEIGHT, type Selection, select } from "./select.ts";
export { type EffectiveSplit, effectiveSplits } from "./splits.ts";
export {
  inboundTags,
  SERVICE_TAG,
  selectorMatches,
  type Tags,
  tagsText,
  WILDCARD,
} from "./tags.ts";
export {
  type RouteFinding,
  type RouteFindingCode,
  type RouteLists,
  validateRoute,
} from "./validate-route.ts";
export {
  assignVirtualAddresses,
  VIRTUAL_V4_CIDR,
  VIRTUAL_V6_CIDR,
  type VirtualAddresses,
} from "./virtual-addresses.ts";
