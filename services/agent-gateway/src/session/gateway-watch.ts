/** Own signs of life that come back without one of another gateway, after which that one is gone. */
const MISSED = 6;

/**
 * How long one that is gone may still be handed Hellos: a frozen process keeps its connection until
 * the server has sent two pings in vain, every two minutes by default.
 */
const HAUNTING_MS = 6 * 60_000;

/**
 * Notices when another gateway is gone, so that its agents need not find out by themselves. Its
 * silence is counted in own signs of life that came back meanwhile: who stood still or was cut off
 * hears neither, and takes nobody for dead.
 */
export class GatewayWatch {
  readonly #gateway: string;
  readonly #missed = new Map<string, number>();
  /** Gateways that are gone, with the monotonic time at which that was noticed. */
  readonly #gone = new Map<string, number>();

  /** `gateway` is the observer itself. */
  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  /** STATUS lists agents of a gateway: it lives or is gone, which shows soon. */
  listed(gateway: string): void {
    if (gateway !== this.#gateway && !this.#missed.has(gateway) && !this.#gone.has(gateway)) {
      this.#missed.set(gateway, 0);
    }
  }

  /** A gateway gave a sign of life; returns those that are gone now, each once. */
  heard(gateway: string, nowMs: number): readonly string[] {
    if (gateway !== this.#gateway) {
      this.#missed.set(gateway, 0);
      this.#gone.delete(gateway);
      return [];
    }
    const gone: string[] = [];
    for (const [other, missed] of this.#missed) {
      if (missed + 1 >= MISSED) {
        this.#missed.delete(other);
        this.#gone.set(other, nowMs);
        gone.push(other);
      } else {
        this.#missed.set(other, missed + 1);
      }
    }
    return gone;
  }

  /**
   * True if Hellos may go to a gateway that is gone, and this one is to care for them: of those that
   * live the one with the first name.
   */
  cares(nowMs: number): boolean {
    for (const [gateway, sinceMs] of this.#gone) {
      if (nowMs - sinceMs > HAUNTING_MS) {
        this.#gone.delete(gateway);
      }
    }
    const first = [...this.#missed.keys()].every((other) => other > this.#gateway);
    return this.#gone.size > 0 && first;
  }
}
