import type { Route } from "./model.ts";
import { SERVICE_TAG, serviceOf, sortedKeys, type Tags } from "./tags.ts";

/**
 * Stable codes: `need-one` an empty list, `need-tag` no tags, `no-service` no service tag,
 * `only-service` a destination that is not exactly the service tag, `tag-forbidden` a tag that a
 * destination must not have, `empty` an empty key or value, `weight-zero` weights that sum to 0.
 */
export type RouteFindingCode =
  | "need-one"
  | "need-tag"
  | "no-service"
  | "only-service"
  | "tag-forbidden"
  | "empty"
  | "weight-zero";

/** One fault of an authored route. */
export interface RouteFinding {
  /** Where, as `sources[0]["region"]` or `split[1].tags`. */
  readonly path: string;
  readonly code: RouteFindingCode;
  /** What is wrong and what to write instead. */
  readonly message: string;
}

/** A route as read from a document: absent lists read as empty. */
export type RouteLists = Partial<Pick<Route, "sources" | "destinations" | "split">>;

const MESSAGES: Readonly<Record<RouteFindingCode, string>> = {
  "need-one": "is empty; at least one is needed",
  "need-tag": "has no tags; at least one is needed",
  "no-service": `has no ${SERVICE_TAG} tag; name a service`,
  "only-service": `must be exactly one ${SERVICE_TAG} tag`,
  "tag-forbidden": `is not allowed; a destination has only the ${SERVICE_TAG} tag`,
  empty: "is empty; keys and values must have text",
  "weight-zero": "has weights that sum to 0; give at least one split a weight above 0",
};

/**
 * Every fault of a route at once, in the order of its lists, keys in byte order:
 * - at least one source, each with a service tag;
 * - at least one destination, each exactly the service tag;
 * - at least one split, each with a service tag, weights that sum above 0;
 * - no empty keys or values.
 */
export function validateRoute(route: RouteLists): RouteFinding[] {
  const { sources = [], destinations = [], split = [] } = route;
  const findings = [
    ...listFindings("sources", sources.length),
    ...sources.flatMap((tags, at) => tagFindings(`sources[${at}]`, tags)),
    ...listFindings("destinations", destinations.length),
    ...destinations.flatMap((tags, at) => destinationFindings(`destinations[${at}]`, tags)),
    ...listFindings("split", split.length),
    ...split.flatMap(({ tags }, at) => tagFindings(`split[${at}].tags`, tags)),
  ];
  if (split.length > 0 && split.every(({ weight }) => weight === 0)) {
    findings.push(finding("split", "weight-zero"));
  }
  return findings;
}

function listFindings(path: string, length: number): RouteFinding[] {
  return length === 0 ? [finding(path, "need-one")] : [];
}

function tagFindings(path: string, tags: Tags): RouteFinding[] {
  const keys = sortedKeys(tags);
  return [
    ...(keys.length === 0 ? [finding(path, "need-tag")] : []),
    ...keys.flatMap((key) => emptyFindings(path, key, tags)),
    ...serviceFindings(path, tags),
  ];
}

function destinationFindings(path: string, tags: Tags): RouteFinding[] {
  const keys = sortedKeys(tags);
  const only = keys.length === 1 && keys[0] === SERVICE_TAG;
  return [
    ...(only ? [] : [finding(path, "only-service")]),
    ...keys.flatMap((key) => [
      ...(key === SERVICE_TAG ? [] : [finding(tagPath(path, key), "tag-forbidden")]),
      ...emptyFindings(path, key, tags),
    ]),
    ...serviceFindings(path, tags),
  ];
}

function emptyFindings(path: string, key: string, tags: Tags): RouteFinding[] {
  return [
    ...(key === "" ? [finding(path, "empty")] : []),
    ...(tags[key] === "" ? [finding(tagPath(path, key), "empty")] : []),
  ];
}

function serviceFindings(path: string, tags: Tags): RouteFinding[] {
  return serviceOf(tags) === undefined ? [finding(path, "no-service")] : [];
}

function tagPath(path: string, key: string): string {
  return `${path}[${JSON.stringify(key)}]`;
}

function finding(path: string, code: RouteFindingCode): RouteFinding {
  return { path, code, message: `${path} ${MESSAGES[code]}` };
}
