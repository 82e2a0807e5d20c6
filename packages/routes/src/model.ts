import { compareBytes } from "./byte-order.ts";
import { type Tags, tagsText } from "./tags.ts";

/** Mesh of routes and dataplanes that name none. */
export const DEFAULT_MESH = "default";

/** One weighted part of a route. */
export interface Split {
  /** u32; 0 takes no share. */
  readonly weight: number;
  readonly tags: Tags;
}

/** An authored traffic route. */
export interface Route {
  /** Default `default`. */
  readonly mesh?: string;
  /** Default empty. */
  readonly namespace?: string;
  readonly name: string;
  /** Callers: one of these must match an inbound of the dataplane. */
  readonly sources: readonly Tags[];
  /** Called services: one of these must match the outbound's service tag. */
  readonly destinations: readonly Tags[];
  readonly split: readonly Split[];
}

/** One service that a dataplane serves. */
export interface Inbound {
  /** Where it listens; not needed to select routes. */
  readonly address?: string;
  readonly port?: number;
  readonly tags: Tags;
}

/** A workload as a caller and as a server. */
export interface Dataplane {
  /** Default `default`. */
  readonly mesh?: string;
  readonly inbounds: readonly Inbound[];
  /** Services that it calls; repeats share one result. */
  readonly outbounds: readonly string[];
}

/** `<namespace>/<name>` of a route, the provenance of what it decides. */
export function routeName(route: Route): string {
  return `${route.namespace ?? ""}/${route.name}`;
}

/**
 * Order of routes of equal rank: by namespace, then by name, in byte order; an unset namespace is
 * the empty text and comes first. Routes that share both are ordered by their content, so that no
 * result depends on the order of input.
 */
export function compareRoutes(a: Route, b: Route): number {
  if (a === b) return 0;
  return (
    compareBytes(a.namespace ?? "", b.namespace ?? "") ||
    compareBytes(a.name, b.name) ||
    compareBytes(contentText(a), contentText(b))
  );
}

function contentText(route: Route): string {
  const texts = (tags: readonly Tags[]) => tags.map(tagsText).sort(compareBytes);
  const splits = route.split.map(({ weight, tags }) => `${weight} ${tagsText(tags)}`);
  return JSON.stringify([
    texts(route.sources),
    texts(route.destinations),
    splits.sort(compareBytes),
  ]);
}
