import { rowProblem } from "@ringwall/endpointmeta";
import { compareBytes } from "@ringwall/labels";
import { type Canonical, canonicalRoute, endpointSet, normalizeCidr } from "@ringwall/rendered";
import {
  assignVirtualAddresses,
  effectiveSplits,
  endpoints,
  type Inbound,
  inboundTags,
  RouteIndex,
  routeName,
  SERVICE_TAG,
  type Selection,
  select,
  type Tags,
  tagsText,
  type VirtualAddresses,
} from "@ringwall/routes";
import { type OutboundRoute, PortClass, type RouteSplit } from "@ringwall/wire";
import type { Configuration, RowSpec } from "../model.ts";
import type { Estate, Member } from "./estate.ts";

/** One address and port that serves a service. */
interface Served extends Inbound {
  readonly address: string;
  readonly port: number;
  /** As it stands in a rendered split. */
  readonly text: string;
}

/** Endpoints that one set of tags leads to. */
interface Bucket {
  readonly texts: Canonical<string[]>;
  readonly v4: boolean;
  readonly v6: boolean;
}

/** What was left out, for metrics. */
export interface Skipped {
  /** Stored rows that must not be used, and endpoints without a usable address or port. */
  readonly rows: number;
}

/** Resolves the outbound routes of an estate; what several workloads share is computed once. */
export class OutboundRoutes {
  readonly #routes: RouteIndex;
  readonly #served = new Map<string, Served[]>();
  readonly #virtual: ReadonlyMap<string, VirtualAddresses>;
  readonly #buckets = new Map<string, Bucket>();
  readonly #byCaller = new Map<string, readonly OutboundRoute[]>();
  readonly #byDecision = new Map<string, OutboundRoute>();
  #skippedRows = 0;

  constructor(configuration: Configuration, estate: Estate) {
    this.#routes = new RouteIndex(configuration.routes);
    this.#virtual = assignVirtualAddresses(estate.members.flatMap(({ outbounds }) => outbounds));
    for (const member of estate.members) {
      this.#serve(member);
    }
  }

  get skipped(): Skipped {
    return { rows: this.#skippedRows };
  }

  /** Routes of one workload in byte order of their outbounds; the same array for equal callers. */
  of(member: Member): readonly OutboundRoute[] {
    if (member.outbounds.length === 0) {
      return NONE;
    }
    const inbounds = usableRows(member).map((row) => ({ tags: tagsOf(row, member) }));
    const callers = inbounds.map(({ tags }) => tagsText(tags)).sort(compareBytes);
    const outbounds = [...new Set(member.outbounds)].sort(compareBytes);
    const key = JSON.stringify([callers, outbounds]);
    let routes = this.#byCaller.get(key);
    if (routes === undefined) {
      const selected = select({ inbounds, outbounds }, this.#routes);
      routes = outbounds.flatMap((outbound) => {
        const selection = selected.get(outbound);
        return selection === undefined ? [] : [this.#decide(outbound, selection)];
      });
      this.#byCaller.set(key, routes);
    }
    return routes;
  }

  #decide(outbound: string, { route, split }: Selection): OutboundRoute {
    const provenance = route === undefined ? "" : routeName(route);
    const key = `${outbound}\0${provenance}\0${route?.mesh ?? ""}`;
    let result = this.#byDecision.get(key);
    if (result === undefined) {
      const splits = effectiveSplits(split).map(({ key: text, weight, tags }) => ({
        bucket: this.#bucket(tags),
        split: { key: text, weight },
      }));
      const address = this.#virtual.get(outbound);
      result = canonicalRoute({
        $typeName: "ringwall.v1.OutboundRoute",
        outbound,
        route: provenance,
        splits: splits.map(
          ({ bucket, split: each }): RouteSplit => ({
            $typeName: "ringwall.v1.RouteSplit",
            ...each,
            endpoints: bucket.texts,
          }),
        ),
        virtualAddressV4: splits.some(({ bucket }) => bucket.v4) ? (address?.v4 ?? "") : "",
        virtualAddressV6: splits.some(({ bucket }) => bucket.v6) ? (address?.v6 ?? "") : "",
      });
      this.#byDecision.set(key, result);
    }
    return result;
  }

  #bucket(tags: Tags): Bucket {
    const key = tagsText(tags);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      const service = tags[SERVICE_TAG] ?? "";
      const candidates = [{ inbounds: this.#served.get(service) ?? [] }];
      const { byService } = endpoints(new Map([[service, [tags]]]), candidates);
      const found = byService.get(service) ?? [];
      bucket = {
        texts: endpointSet(found.map(({ text }) => text)),
        v4: found.some(({ address }) => !address.includes(":")),
        v6: found.some(({ address }) => address.includes(":")),
      };
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  #serve(member: Member): void {
    const { workload } = member;
    const usable = usableRows(member);
    this.#skippedRows += workload.rows.length - usable.length;
    if (workload.presence !== "live") {
      return;
    }
    for (const row of usable) {
      if (row.weight === 0) {
        continue;
      }
      const list = this.#served.get(row.service) ?? [];
      const tags = tagsOf(row, member);
      for (const text of row.address ? [row.address] : workload.addresses) {
        const address = bareAddress(text);
        if (address === undefined) {
          this.#skippedRows += 1;
        } else {
          list.push(...servedPorts(row, address, tags));
        }
      }
      this.#served.set(row.service, list);
    }
  }
}

const NONE: readonly OutboundRoute[] = [];

/** Rows that readers may use. */
function usableRows({ workload }: Member): readonly RowSpec[] {
  return workload.rows.filter((row) => rowProblem(row) === "");
}

function tagsOf(row: RowSpec, member: Member): Tags {
  return inboundTags(row.service, member.set.labels, row.metadata);
}

function servedPorts(row: RowSpec, address: string, tags: Tags): Served[] {
  const numbers = new Set([...(row.port === 0 ? [] : [row.port]), ...row.ports]);
  const host = address.includes(":") ? `[${address}]` : address;
  return [...numbers]
    .filter((port) => port >= 1)
    .map((port) => {
      const protocol = row.portClasses[port] === PortClass.UDP ? "udp" : "tcp";
      return { address, port, tags, text: `${protocol}/${host}:${port}@${port}` };
    });
}

/** Canonical text of an address; undefined if it is none. */
function bareAddress(text: string): string | undefined {
  const route = normalizeCidr(text);
  return /\/(32|128)$/.test(route) && !text.includes("/")
    ? route.slice(0, route.indexOf("/"))
    : undefined;
}
