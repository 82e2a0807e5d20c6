/** A port that is served or tried. */
export interface PeerPort {
  readonly protocol: "tcp" | "udp";
  readonly port: number;
}

/** One connection to try. */
export interface Attempt {
  readonly protocol: "tcp" | "udp" | "icmp";
  readonly address: string;
  /** Ignored for icmp. */
  readonly port: number;
  /** Address to come from; any if left out. */
  readonly source?: string;
}

/**
 * How an attempt ended. `open`: the far end answered, with its name. `refused`: it, or this host, said
 * no at once. `silent`: no answer in time.
 */
export interface AttemptResult {
  readonly outcome: "open" | "refused" | "silent";
  readonly name: string;
}

/** What a peer is asked to do; the answer carries the same `id`. */
export type PeerRequest =
  /** Serves ports; each connection and datagram is answered with the peer's name and then echoed. */
  | { readonly kind: "serve"; readonly ports: readonly PeerPort[] }
  /** Tries connections, at most `width` at a time. */
  | {
      readonly kind: "try";
      readonly attempts: readonly Attempt[];
      readonly timeoutMs: number;
      readonly width: number;
    }
  /** Opens many connections to one place and counts the names that answer. */
  | {
      readonly kind: "spread";
      readonly attempt: Attempt;
      readonly count: number;
      readonly width: number;
      readonly timeoutMs: number;
    }
  /** Tries one connection after the other for a while and counts the outcomes. */
  | {
      readonly kind: "hammer";
      readonly attempt: Attempt;
      readonly durationMs: number;
      readonly timeoutMs: number;
      readonly width: number;
    }
  /** Opens a connection and keeps it under a name. */
  | {
      readonly kind: "hold";
      readonly key: string;
      readonly attempt: Attempt;
      readonly timeoutMs: number;
    }
  /** Sends on a kept connection and waits for the echo. */
  | { readonly kind: "echo"; readonly key: string; readonly timeoutMs: number };

/** Counts by outcome or by name. */
export type Counts = Readonly<Record<string, number>>;

/** What a peer answers. */
export type PeerAnswer =
  | { readonly kind: "done" }
  | { readonly kind: "results"; readonly results: readonly AttemptResult[] }
  | { readonly kind: "counts"; readonly counts: Counts };
