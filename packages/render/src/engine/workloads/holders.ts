import { Column } from "../store/column.ts";

/** Workloads that have an address: one in nearly every case. */
export class Holders {
  /** First holder of an address, + 1; further ones. */
  readonly #first = new Column();
  readonly #more = new Map<number, number[]>();

  /** Makes room for so many addresses, known beforehand. */
  reserve(texts: number): void {
    this.#first.reserve(texts);
  }

  /** Number of workloads that have an address. */
  count(text: number): number {
    const more = this.#more.size === 0 ? undefined : this.#more.get(text);
    return (this.#first.at(text) === 0 ? 0 : 1) + (more?.length ?? 0);
  }

  at(text: number, index: number): number {
    return index === 0 ? this.#first.at(text) - 1 : (this.#more.get(text)?.[index - 1] ?? 0);
  }

  add(text: number, workload: number): void {
    if (this.#first.at(text) === 0) {
      this.#first.put(text, workload + 1);
      return;
    }
    const more = this.#more.get(text);
    if (more === undefined) {
      this.#more.set(text, [workload]);
    } else {
      more.push(workload);
    }
  }

  remove(text: number, workload: number): void {
    const more = this.#more.get(text);
    if (this.#first.at(text) === workload + 1) {
      this.#first.put(text, (more?.pop() ?? -1) + 1);
    } else if (more !== undefined) {
      more.splice(more.indexOf(workload), 1);
    }
    if (more?.length === 0) {
      this.#more.delete(text);
    }
  }
}
