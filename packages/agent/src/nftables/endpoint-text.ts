import { parseV4, parseV6 } from "./address.ts";
import { checkPort, inexpressible } from "./inexpressible.ts";

/** One endpoint of a route. */
export interface Target {
  readonly protocol: "tcp" | "udp";
  readonly family: "ip" | "ip6";
  /** Bare address. */
  readonly address: string;
  readonly port: number;
  /** Port that callers use. */
  readonly servicePort: number;
}

const ENDPOINT = /^(tcp|udp)\/(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):(\d{1,5})@(\d{1,5})$/;

/**
 * Reads `tcp/10.0.0.1:5432@5432` or `udp/[fd00::1]:53@53`. Throws AgentError
 * `policy-not-expressible`, naming the outbound service.
 */
export function parseEndpoint(text: string, outbound: string): Target {
  const [, protocol, address6, address4, port, servicePort] = ENDPOINT.exec(text) ?? [];
  const address = address6 ?? address4 ?? "";
  const family = address6 === undefined ? "ip" : "ip6";
  const valid = family === "ip" ? parseV4(address) >= 0 : parseV6(address) !== undefined;
  if (!valid || (protocol !== "tcp" && protocol !== "udp")) {
    throw inexpressible(`endpoint "${text}" of outbound "${outbound}" can't be read`);
  }
  return {
    protocol,
    family,
    address,
    port: checkPort(Number(port)),
    servicePort: checkPort(Number(servicePort)),
  };
}
