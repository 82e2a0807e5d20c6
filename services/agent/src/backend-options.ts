import { AgentError, type BackendParts } from "@ringwall/agent";
import { type OwnValues, readAlwaysAccept } from "./workloads.ts";

const LOG_LIMIT = 1000;

/**
 * What the options say about where policies take effect. Throws AgentError `option-invalid` for what
 * is malformed, and for several workloads on the nftables backend: a network namespace has one.
 */
export async function readBackendOptions(
  values: OwnValues,
  workloads: readonly unknown[],
): Promise<Omit<BackendParts, "stateDir" | "checker">> {
  const { backend, nft = "nft", logPerSecond = "1", cutEstablished = "no" } = values;
  if (backend === "nftables" && workloads.length !== 1) {
    throw new AgentError(
      "option-invalid",
      `the nftables backend enforces 1 workload for each network namespace, not ${workloads.length}; run one agent in each`,
    );
  }
  if (!/^\d{1,4}$/.test(logPerSecond) || Number(logPerSecond) > LOG_LIMIT) {
    throw new AgentError(
      "option-invalid",
      `--log-per-second "${logPerSecond}" is not 0 to ${LOG_LIMIT}`,
    );
  }
  if (cutEstablished !== "yes" && cutEstablished !== "no") {
    throw new AgentError(
      "option-invalid",
      `--cut-established "${cutEstablished}" is not yes or no`,
    );
  }
  return {
    alwaysAccept: await readAlwaysAccept(values.alwaysAccept ?? ""),
    nft,
    logPerSecond: Number(logPerSecond),
    cutEstablished: cutEstablished === "yes",
  };
}
