import { api, connectBus, type ServiceOptions } from "@ringwall/bus";
import type { Registrar } from "../registrar.ts";
import { LEASE_SLOT } from "../slot-names.ts";
import { defaultCluster } from "../sources/cluster.ts";
import { runKubernetes } from "../sources/kubernetes.ts";
import { logLine } from "./log-line.ts";

/**
 * Reads Kubernetes beside a registrar until the signal, over a connection of its own like any other
 * adapter. Of several instances the one that counts leases does it.
 */
export async function runAdapter(
  options: ServiceOptions,
  registrar: Registrar,
  signal: AbortSignal,
): Promise<void> {
  const base = { service: "registrar", instance: options.instance };
  const bus = await connectBus({
    url: options.natsUrl,
    name: `${options.prefix}-kubernetes-${options.instance}`,
    prefix: options.prefix,
    tls: options.tls,
    signal,
    ...(options.credsFile === undefined ? {} : { credsFile: options.credsFile }),
    ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
  });
  try {
    const parts = {
      cluster: await defaultCluster(),
      api: api(bus),
      isActive: () => registrar.status().slots.includes(LEASE_SLOT),
      log: logLine.bind(undefined, base),
    };
    await runKubernetes(parts, signal);
  } finally {
    await bus.close();
  }
}
