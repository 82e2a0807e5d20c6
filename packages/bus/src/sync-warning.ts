const TIMEOUT_MS = 2000;

/**
 * Asks the server's monitoring endpoint whether it syncs every write to disk, and returns what an
 * operator should know if it does not. A client connection can't see this setting.
 */
export async function syncWarning(monitorUrl: string): Promise<string | undefined> {
  try {
    const url = new URL("/jsz", monitorUrl);
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const answer: unknown = await response.json();
    const config = field(answer, "config");
    if (field(config, "sync_always") === true) {
      return undefined;
    }
    const intervalNs = field(config, "sync_interval");
    const every = typeof intervalNs === "number" ? `every ${intervalNs / 1e9} s` : "now and then";
    return `nats-server syncs its store ${every}: a power failure can lose acknowledged writes; set sync_interval: always`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `whether nats-server syncs its store is not known: ${monitorUrl} does not answer (${reason})`;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && name in value
    ? (value as Record<string, unknown>)[name] // Any JSON object may be read by key.
    : undefined;
}
