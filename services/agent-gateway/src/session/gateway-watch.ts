/** Own signs of life that come back without one of another gateway, after which that one is gone. */
const MISSED = 6;

/**
 * Notices when another gateway is gone, so that its agents need not find out by themselves. Its
 * silence is counted in own signs of life that came back meanwhile: who stood still or was cut off
 * hears neither, and takes nobody for dead.
 */
export class GatewayWatch {
  readonly #gateway: string;
  readonly #missed = new Map<string, number>();

  /** `gateway` is the observer itself. */
  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  /** A gateway gave a sign of life; returns those that are gone now, each once. */
  heard(gateway: string): readonly string[] {
    if (gateway !== this.#gateway) {
      this.#missed.set(gateway, 0);
      return [];
    }
    const gone: string[] = [];
    for (const [other, missed] of this.#missed) {
      if (missed + 1 >= MISSED) {
        this.#missed.delete(other);
        gone.push(other);
      } else {
        this.#missed.set(other, missed + 1);
      }
    }
    return gone;
  }
}
