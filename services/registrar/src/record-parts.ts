import type { EndpointRow, WorkloadRecord } from "@ringwall/wire";

/** Parts that are kept for sharing; when there are more, sharing begins anew. */
const PARTS_MAX = 65_536;

/**
 * Shares the parts that many records have in common: label sets, rows and texts. Records are never
 * changed in place, so a part may stand in any number of them.
 */
export class RecordParts {
  readonly #texts = new Map<string, string>();
  readonly #labels = new Map<string, Record<string, string>>();
  readonly #rows = new Map<string, EndpointRow>();
  readonly #limit: number;

  constructor(limit: number = PARTS_MAX) {
    this.#limit = limit;
  }

  /** The record with shared parts in place of its own. */
  share(record: WorkloadRecord): WorkloadRecord {
    record.labels = this.#shareLabels(record.labels);
    record.rows = record.rows.map((row) => this.#shareRow(row));
    record.outbounds = record.outbounds.map((outbound) => this.#text(outbound));
    record.namespace = this.#text(record.namespace);
    return record;
  }

  #shareLabels(labels: Record<string, string>): Record<string, string> {
    return this.#shared(this.#labels, JSON.stringify(labels), () =>
      Object.fromEntries(
        Object.entries(labels).map(([key, value]) => [this.#text(key), this.#text(value)]),
      ),
    );
  }

  #shareRow(row: EndpointRow): EndpointRow {
    return this.#shared(this.#rows, JSON.stringify(row), () => {
      row.service = this.#text(row.service);
      return row;
    });
  }

  #text(text: string): string {
    return this.#shared(this.#texts, text, () => text);
  }

  #shared<Part>(parts: Map<string, Part>, key: string, make: () => Part): Part {
    const known = parts.get(key);
    if (known !== undefined) {
      return known;
    }
    if (parts.size >= this.#limit) {
      parts.clear();
    }
    const part = make();
    parts.set(key, part);
    return part;
  }
}
