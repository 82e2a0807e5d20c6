import { assignVirtualAddresses, type VirtualAddresses } from "@ringwall/routes";

interface NamedService {
  /** Addresses that it has if nobody else claims them. */
  readonly home: VirtualAddresses;
  assigned: VirtualAddresses;
}

/**
 * Virtual addresses of the outbound services that somebody has. They are a function of the set of
 * names: a name whose own places are free takes them and concerns nobody else. Only where names
 * collide, which is rare, are all of them assigned anew.
 */
export class VirtualNames {
  readonly #references = new Map<string, number>();
  readonly #services = new Map<string, NamedService>();
  readonly #takenV4 = new Map<string, string>();
  readonly #takenV6 = new Map<string, string>();
  /** Names that are not at home. */
  #displaced = 0;
  #touched = new Set<string>();

  hold(name: string): void {
    this.#references.set(name, (this.#references.get(name) ?? 0) + 1);
    this.#touched.add(name);
  }

  release(name: string): void {
    const left = (this.#references.get(name) ?? 0) - 1;
    if (left > 0) {
      this.#references.set(name, left);
      return;
    }
    this.#references.delete(name);
    this.#touched.add(name);
  }

  of(name: string): VirtualAddresses | undefined {
    return this.#services.get(name)?.assigned;
  }

  /** Follows the names that came and went; the names whose addresses changed. */
  update(): Iterable<string> {
    const changed = new Set<string>();
    const came: string[] = [];
    let shared = false;
    for (const name of this.#touched) {
      const wanted = this.#references.has(name);
      if (wanted && !this.#services.has(name)) {
        came.push(name);
      } else if (!wanted && this.#services.has(name)) {
        shared ||= this.#displaced > 0;
        this.#remove(name);
      }
    }
    this.#touched = new Set();
    for (const name of came) {
      shared = this.#add(name) || shared;
      changed.add(name);
    }
    if (shared) {
      this.#assignAll(changed);
    }
    return changed;
  }

  #remove(name: string): void {
    const service = this.#services.get(name);
    this.#services.delete(name);
    if (service !== undefined) {
      this.#takenV4.delete(service.assigned.v4);
      this.#takenV6.delete(service.assigned.v6);
    }
  }

  /** Gives a name its home; true if somebody else has it. */
  #add(name: string): boolean {
    const home = assignVirtualAddresses([name]).get(name);
    if (home === undefined) {
      return false;
    }
    this.#services.set(name, { home, assigned: home });
    if (this.#takenV4.has(home.v4) || this.#takenV6.has(home.v6)) {
      return true;
    }
    this.#takenV4.set(home.v4, name);
    this.#takenV6.set(home.v6, name);
    return false;
  }

  #assignAll(changed: Set<string>): void {
    this.#takenV4.clear();
    this.#takenV6.clear();
    this.#displaced = 0;
    for (const [name, assigned] of assignVirtualAddresses(this.#services.keys())) {
      const service = this.#services.get(name);
      if (service === undefined) {
        continue;
      }
      if (service.assigned.v4 !== assigned.v4 || service.assigned.v6 !== assigned.v6) {
        service.assigned = assigned;
        changed.add(name);
      }
      const { home } = service;
      this.#displaced += home.v4 === assigned.v4 && home.v6 === assigned.v6 ? 0 : 1;
      this.#takenV4.set(assigned.v4, name);
      this.#takenV6.set(assigned.v6, name);
    }
  }
}
