import type { Outbox } from "./outbox.ts";
import type { Registry, RegistryChange } from "./registry.ts";
import { ROW_REASONS } from "./registry-indexes.ts";

const NOW = "ringwall_refused_rows";
const SEEN = "ringwall_refused_rows_total";

/**
 * What the fold shows in metrics. Stored rows that are not used are counted by reason, how many
 * there are now and how many were seen; each reason has its series from the start.
 */
export class RegistryMetrics {
  readonly #registry: Registry;
  readonly #out: Outbox;

  constructor(registry: Registry, out: Outbox) {
    this.#registry = registry;
    this.#out = out;
  }

  /** Makes the series. */
  begin(): void {
    for (const reason of ROW_REASONS) {
      this.#out.push(
        { kind: "gauge", name: NOW, value: 0, labels: { reason } },
        { kind: "count", name: SEEN, by: 0, labels: { reason } },
      );
    }
  }

  /** Counts and logs the refused rows of a change. */
  changed({ id, before, after }: RegistryChange): void {
    for (const { row, reason } of after?.refused ?? []) {
      this.#out.push(
        { kind: "count", name: SEEN, labels: { reason } },
        {
          kind: "log",
          level: "warn",
          message: "a stored row is not used",
          fields: { workload: id, service: row?.service ?? "", reason },
        },
      );
    }
    if ((before?.refused.length ?? 0) + (after?.refused.length ?? 0) > 0) {
      this.publish();
    }
  }

  /** Sets the number of rows by reason. */
  publish(): void {
    for (const reason of ROW_REASONS) {
      const value = this.#registry.indexes.refusedRows(reason);
      this.#out.push({ kind: "gauge", name: NOW, value, labels: { reason } });
    }
  }

  /** Sets the gauges that are measured from time to time. */
  measure(watches: number): void {
    const values: Readonly<Record<string, number>> = {
      ringwall_registry_workloads: this.#registry.size,
      ringwall_registry_revision: this.#registry.revision,
      ringwall_registry_unreadable: this.#registry.unreadable,
      ringwall_registry_foreign_keys: this.#registry.foreign,
      ringwall_registrar_watches: watches,
      ringwall_contested_addresses: this.#registry.indexes.claims.contested.length,
    };
    for (const [name, value] of Object.entries(values)) {
      this.#out.push({ kind: "gauge", name, value });
    }
  }
}
