import { DEFAULT_MESH, type Inbound } from "./model.ts";
import { selectorMatches, serviceOf, type Tags } from "./tags.ts";

/** Inbounds by service, and what could not be used. */
export interface Endpoints<Served> {
  /** Inbounds that serve each service; a service without any has no key. */
  readonly byService: Map<string, Served[]>;
  /** Matching inbounds without a usable address or port; for a metric. */
  readonly skipped: number;
}

/** A dataplane as far as it serves. `Served` may carry more than an inbound needs. */
export interface Serving<Served extends Inbound> {
  /** Default `default`. */
  readonly mesh?: string;
  readonly inbounds: readonly Served[];
}

const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?=\d)|$)){4}$/;
const V6 = /^(?=.*:)[0-9A-Fa-f:.]+$/;

/**
 * Endpoints of the destination buckets: every inbound of every dataplane in the mesh whose tags
 * satisfy a selector of its own service's bucket, once, in the order of dataplanes and inbounds. An
 * inbound without a service tag belongs to no bucket. A matching inbound whose address is no bare
 * IP address or whose port is not in 1 to 65535 is skipped and counted.
 */
export function endpoints<Served extends Inbound>(
  buckets: ReadonlyMap<string, readonly Tags[]>,
  dataplanes: Iterable<Serving<Served>>,
  mesh: string = DEFAULT_MESH,
): Endpoints<Served> {
  const byService = new Map<string, Served[]>();
  let skipped = 0;
  for (const dataplane of dataplanes) {
    if ((dataplane.mesh ?? DEFAULT_MESH) !== mesh) continue;
    for (const inbound of dataplane.inbounds) {
      const service = serviceOf(inbound.tags);
      if (service === undefined || !satisfies(buckets.get(service), inbound.tags)) continue;
      if (!isUsable(inbound)) {
        skipped += 1;
        continue;
      }
      const list = byService.get(service);
      if (list === undefined) byService.set(service, [inbound]);
      else list.push(inbound);
    }
  }
  return { byService, skipped };
}

function satisfies(selectors: readonly Tags[] | undefined, tags: Tags): boolean {
  return selectors?.some((selector) => selectorMatches(selector, tags)) ?? false;
}

function isUsable({ address = "", port = 0 }: Inbound): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535 && isAddress(address);
}

function isAddress(text: string): boolean {
  // The platform's URL parser reads IPv6 strictly; only characters of an address reach it.
  return V4.test(text) || (V6.test(text) && URL.canParse(`http://[${text}]/`));
}
