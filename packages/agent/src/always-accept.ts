import { AgentError } from "./errors.ts";
import type { AlwaysAccept } from "./nftables/compile.ts";

/**
 * Reads the ports that stay open whatever a policy says: entries `tcp/22` or `udp/68`, separated by
 * commas or lines; the rest of a line after `#` is skipped. Throws AgentError `option-invalid`.
 */
export function parseAlwaysAccept(text: string): readonly AlwaysAccept[] {
  return text
    .split("\n")
    .map((line) => line.replace(/#.*$/, ""))
    .flatMap((line) => line.split(","))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map(parseEntry);
}

/** The text form of such ports. */
export function formatAlwaysAccept(ports: readonly AlwaysAccept[]): string {
  return ports.map(({ protocol, port }) => `${protocol}/${port}`).join(",");
}

function parseEntry(entry: string): AlwaysAccept {
  const match = /^(tcp|udp)\/(\d{1,5})$/.exec(entry);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535) {
    throw new AgentError(
      "option-invalid",
      `always-accept entry "${entry}" is not tcp/<port> or udp/<port> with a port from 1 to 65535`,
    );
  }
  return { protocol: match[1] === "tcp" ? "tcp" : "udp", port };
}
