/** Interval of heartbeats and pulses in milliseconds. */
export const HEARTBEAT_MS = 10_000;

/** Silent intervals after which an agent counts as gone. */
export const DEAD_INTERVALS = 3;

/** Pushes to one agent that wait for their acknowledgement; more are coalesced into one. */
export const WINDOW = 4;

/** Largest body of one message; a snapshot above it travels in chunks of this size. */
export const MESSAGE_BYTES = 512 * 1024;

/** Highest level of the wire contract that a body of today uses. */
export const BODY_SCHEMA_LEVEL = 1;

/** A claim further above the head than this holds its workload. */
export const CLAIM_LIMIT = 2 ** 20;

/** Highest session number: numbers stay exact. */
export const SESSION_LIMIT = 2 ** 52;

/**
 * Digests that are remembered as refused for one workload: twice what an agent remembers, so that a
 * Hello from before the last refusals does not displace them.
 */
export const PARKED_KEPT = 8;

/** Workloads of one STATUS page. */
export const PAGE_SIZE = 256;

/** Sessions judged in one step. */
export const SLICE = 256;

/** Longest detail that STATUS shows, in characters. */
export const DETAIL_LIMIT = 256;

/** Most bytes of facts that are kept of one agent. */
export const FACTS_LIMIT = 512;

/** How long an agent that is gone stays listed without a word. */
export const GHOST_MS = 24 * 3600 * 1000;
