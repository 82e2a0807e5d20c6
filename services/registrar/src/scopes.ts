import { isServiceKey } from "@ringwall/endpointmeta";
import type { Scope } from "./options.ts";
import { inSubnet, parseSubnet, type Subnet } from "./subnet.ts";

interface ReadScope {
  readonly services: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly subnets: readonly Subnet[] | undefined;
}

/** What workloads of a namespace may claim, from the scopes of their enrolment. */
export class Scopes {
  readonly #scopes = new Map<string, ReadScope>();

  /** Throws RangeError on a service pattern or subnet that does not parse. */
  constructor(scopes: Readonly<Record<string, Scope>> = {}) {
    for (const [namespace, scope] of Object.entries(scopes)) {
      this.#scopes.set(namespace, readScope(namespace, scope));
    }
  }

  /** True if a workload of this namespace may serve the service. */
  allowsService(namespace: string, service: string): boolean {
    const owner = service.slice(0, service.indexOf("/"));
    const scope = this.#scopes.get(namespace);
    return scope === undefined
      ? owner === namespace
      : scope.services.has(service) || scope.namespaces.has(owner);
  }

  /** True if a workload of this namespace may have the address. */
  allowsAddress(namespace: string, address: string): boolean {
    const subnets = this.#scopes.get(namespace)?.subnets;
    return subnets === undefined || subnets.some((subnet) => inSubnet(address, subnet));
  }

  /** The services of a scope for messages. */
  describeServices(namespace: string): string {
    const scope = this.#scopes.get(namespace);
    return scope === undefined
      ? `${namespace}/*`
      : [...scope.services, ...[...scope.namespaces].map((each) => `${each}/*`)].join(", ");
  }
}

function readScope(namespace: string, scope: Scope): ReadScope {
  const patterns = scope.services ?? [`${namespace}/*`];
  for (const pattern of patterns) {
    if (!isServiceKey(pattern.replace(/\/\*$/, "/x"))) {
      throw new RangeError(
        `scope ${namespace}: service "${pattern}" is not allowed: write <namespace>/<service> or <namespace>/*`,
      );
    }
  }
  const subnets = scope.subnets?.map((text) => {
    const subnet = parseSubnet(text);
    if (subnet === undefined) {
      throw new RangeError(`scope ${namespace}: subnet "${text}" is not <address>/<length>`);
    }
    return subnet;
  });
  return {
    services: new Set(patterns.filter((each) => !each.endsWith("/*"))),
    namespaces: new Set(
      patterns.filter((each) => each.endsWith("/*")).map((each) => each.slice(0, -2)),
    ),
    subnets,
  };
}
