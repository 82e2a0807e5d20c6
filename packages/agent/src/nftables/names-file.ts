import type { OutboundRoute } from "@ringwall/wire";

/** Domain of the names of outbound services; `.internal` is set aside for private use. */
export const NAMES_DOMAIN = "ringwall.internal";

/** The name under which a workload calls an outbound service: `<service>.<namespace>.<domain>`. */
export function outboundName(outbound: string): string {
  const [namespace = "", service = ""] = outbound.split("/");
  return `${service}.${namespace}.${NAMES_DOMAIN}`;
}

/**
 * The virtual addresses of outbound services in the form of a hosts file, for `/etc/hosts`, dnsmasq's
 * `addn-hosts` or CoreDNS's `hosts`. A service key that is no name is left out.
 */
export function namesFile(routes: readonly OutboundRoute[]): string {
  const lines = routes
    .filter(({ outbound }) => /^[a-z0-9-]+\/[a-z0-9-]+$/.test(outbound))
    .flatMap(({ outbound, virtualAddressV4, virtualAddressV6 }) =>
      [virtualAddressV4, virtualAddressV6]
        .filter((address) => address !== "")
        .map((address) => `${address} ${outboundName(outbound)}`),
    );
  return [
    "# Outbound services of this workload, written by the Ringwall agent.",
    ...lines,
    "",
  ].join("\n");
}
