import type { Estate } from "./estate.ts";
import type { Operator } from "./operator.ts";

const EVERY_MS = 150;

/** Changes the estate, one change after the other, each until it is acknowledged. */
export class Writer {
  readonly #operator: Operator;
  readonly #estate: Estate;
  #running: Promise<void> | undefined;
  #stopping = false;
  #acknowledged = 0;

  constructor(operator: Operator, estate: Estate) {
    this.#operator = operator;
    this.#estate = estate;
  }

  /** Changes that were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Begins to change something all the time. */
  start(): void {
    this.#stopping = false;
    this.#running ??= this.#run();
  }

  /** Ends that and waits until the last change is acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    this.#running = undefined;
  }

  /** Makes some changes, commits and registrations in turn. */
  async change(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await this.#once();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      await this.#once();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async #once(): Promise<void> {
    const change = this.#estate.next();
    if (change.kind === "commit") {
      await this.#operator.commit([change.document], `change ${this.#estate.changes}`);
    } else {
      await this.#operator.report(change.workload);
    }
    this.#estate.acknowledged(change);
    this.#acknowledged += 1;
  }
}
