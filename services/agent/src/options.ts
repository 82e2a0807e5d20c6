import type { OwnOption } from "@ringwall/bus";

/** Options of the agent beside those that every process has. */
export const AGENT_OPTIONS: readonly OwnOption[] = [
  own("workload", "RINGWALL_WORKLOAD", "", "id of this host's workload"),
  own("estate", "RINGWALL_ESTATE", "", "file that lists several workloads, instead of --workload"),
  own("stateDir", "RINGWALL_STATE_DIR", "/var/lib/ringwall", "directory of the stored policies"),
  own("backend", "RINGWALL_BACKEND", "file", "where policies take effect: nftables, file"),
  own(
    "annotations",
    "RINGWALL_ANNOTATIONS",
    "",
    "file of endpoint annotations (JSON or key=value)",
  ),
  own(
    "addresses",
    "RINGWALL_ADDRESSES",
    "",
    "addresses, comma-separated (default: the host's own)",
  ),
  own("services", "RINGWALL_SERVICES", "", "service keys that it serves, comma-separated"),
  own("outbounds", "RINGWALL_OUTBOUNDS", "", "service keys that it calls, comma-separated"),
  own("alwaysAccept", "RINGWALL_ALWAYS_ACCEPT", "", "ports that stay open: tcp/22,… or a file"),
  own("connections", "RINGWALL_CONNECTIONS", "1", "connections that an estate is spread over"),
  own("nft", "RINGWALL_NFT", "nft", "nft binary that checks and loads scripts"),
  own(
    "logPerSecond",
    "RINGWALL_LOG_PER_SECOND",
    "1",
    "packets without a rule that the kernel logs, per second; 0: none",
  ),
  own(
    "cutEstablished",
    "RINGWALL_CUT_ESTABLISHED",
    "no",
    "yes: cut established flows off that a new policy does not allow (needs conntrack)",
  ),
];

function own(key: string, variable: string, fallback: string, help: string): OwnOption {
  return { key, variable, default: fallback, help };
}
