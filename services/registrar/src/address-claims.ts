import { SortedIds } from "./sorted-ids.ts";

/**
 * Who claims which address, counted by (address, workload): taking one workload's claim away never
 * touches another's. Only workloads that count as peers claim.
 */
export class AddressClaims {
  readonly #claims = new Map<string, Set<string>>();
  readonly #contested = new SortedIds();

  /** Addresses that more than one workload claims, in byte order. */
  get contested(): readonly string[] {
    return this.#contested.all();
  }

  /** Index of the first contested address after `address`. */
  firstContestedAfter(address: string): number {
    return this.#contested.firstAfter(address);
  }

  /** Workloads that claim an address, in byte order; at most `limit`. */
  claimants(address: string, limit: number): string[] {
    return [...(this.#claims.get(address) ?? [])].sort().slice(0, limit);
  }

  /** Some of the workloads other than `id` that claim an address, at most `limit`. */
  others(address: string, id: string, limit: number): string[] {
    const found: string[] = [];
    for (const workload of this.#claims.get(address) ?? []) {
      if (found.length === limit) {
        break;
      }
      if (workload !== id) {
        found.push(workload);
      }
    }
    return found;
  }

  add(address: string, workload: string): void {
    const claim = this.#claims.get(address);
    if (claim === undefined) {
      this.#claims.set(address, new Set([workload]));
      return;
    }
    if (claim.size === 1 && !claim.has(workload)) {
      this.#contested.add(address);
    }
    claim.add(workload);
  }

  remove(address: string, workload: string): void {
    const claim = this.#claims.get(address);
    if (claim === undefined || !claim.delete(workload)) {
      return;
    }
    if (claim.size === 0) {
      this.#claims.delete(address);
    } else if (claim.size === 1) {
      this.#contested.remove(address);
    }
  }

  clear(): void {
    this.#claims.clear();
    this.#contested.clear();
  }
}
