import { type EndpointRow, Presence } from "@ringwall/wire";
import { AddressClaims } from "./address-claims.ts";
import { ChangeLog } from "./change-log.ts";
import { FormerStates } from "./former-states.ts";
import { IdNumbers } from "./id-numbers.ts";
import { Postings } from "./postings.ts";
import { SortedIds } from "./sorted-ids.ts";
import type { StoredWorkload } from "./stored-workload.ts";

/** Most removals that are remembered for readers that resume. */
const REMOVALS_KEPT = 100_000;

/** Why a stored row is not used. */
export const ROW_REASONS = ["no_port_protocols", "port_not_typed", "port_not_listed"] as const;

/** Everything that is looked up in the registry by something else than the workload's id. */
export class RegistryIndexes {
  /** Ids of all workloads. */
  readonly ids = new SortedIds();
  /** Keys of all services that somebody serves or calls, or has a refused row of. */
  readonly services = new SortedIds();
  readonly claims = new AddressClaims();
  readonly log = new ChangeLog();
  /** Numbers of ids for as long as the log knows them. */
  readonly numbers = new IdNumbers();
  /** What workloads were before they changed. */
  readonly former = new FormerStates();
  readonly #servers = new Postings();
  readonly #callers = new Postings();
  readonly #labels = new Postings();
  readonly #withRefused = new Set<string>();
  readonly #refusedByReason = new Map<string, number>();
  readonly #removals = new Map<string, number>();

  /** Workloads with a row of this service, refused rows included. */
  servers(service: string): ReadonlySet<string> {
    return this.#servers.of(service);
  }

  /** Workloads that declare this service as an outbound. */
  callers(service: string): ReadonlySet<string> {
    return this.#callers.of(service);
  }

  /** Workloads with this source label. */
  labelled(key: string, value: string): ReadonlySet<string> {
    return this.#labels.of(labelTerm(key, value));
  }

  /** Workloads that hold a refused row, in no order. */
  get withRefused(): ReadonlySet<string> {
    return this.#withRefused;
  }

  /** Number of stored rows that are refused for a reason. */
  refusedRows(reason: string): number {
    return this.#refusedByReason.get(reason) ?? 0;
  }

  /** Moves every index from one state of a workload to the next. */
  change(before: StoredWorkload | undefined, after: StoredWorkload | undefined): void {
    if (before !== undefined) {
      this.#leave(before, after);
    }
    if (after !== undefined) {
      this.#enter(before, after);
    }
  }

  /** Remembers a removal for readers that resume. */
  removed(sequence: number, id: string): void {
    this.log.push(sequence, id);
    this.#removals.delete(id);
    this.#removals.set(id, sequence);
    if (this.#removals.size > REMOVALS_KEPT) {
      const oldest = this.#removals.keys().next();
      if (!oldest.done) {
        this.#removals.delete(oldest.value);
        this.log.forget(oldest.value);
        this.numbers.release(oldest.value);
      }
    }
  }

  clear(): void {
    this.ids.clear();
    this.services.clear();
    this.claims.clear();
    this.log.reset(0);
    this.numbers.clear();
    this.former.clear();
    this.#servers.clear();
    this.#callers.clear();
    this.#labels.clear();
    this.#withRefused.clear();
    this.#refusedByReason.clear();
    this.#removals.clear();
  }

  #leave(before: StoredWorkload, after: StoredWorkload | undefined): void {
    const { id } = before.record;
    if (after === undefined) {
      this.ids.remove(id);
    }
    for (const address of claimed(before)) {
      this.claims.remove(address, id);
    }
    for (const [key, value] of Object.entries(before.record.labels)) {
      this.#labels.remove(labelTerm(key, value), id);
    }
    for (const service of served(before.record.rows)) {
      this.#unlink(this.#servers, service, id);
    }
    for (const service of before.record.outbounds) {
      this.#unlink(this.#callers, service, id);
    }
    this.#withRefused.delete(id);
    this.#countRefused(before, -1);
  }

  #enter(before: StoredWorkload | undefined, after: StoredWorkload): void {
    const { id } = after.record;
    if (before === undefined) {
      this.ids.add(id);
      this.#removals.delete(id);
    }
    for (const address of claimed(after)) {
      this.claims.add(address, id);
    }
    for (const [key, value] of Object.entries(after.record.labels)) {
      this.#labels.add(labelTerm(key, value), id);
    }
    for (const service of served(after.record.rows)) {
      this.#link(this.#servers, service, id);
    }
    for (const service of after.record.outbounds) {
      this.#link(this.#callers, service, id);
    }
    if (after.refused.length > 0) {
      this.#withRefused.add(id);
    }
    this.#countRefused(after, 1);
  }

  #countRefused(stored: StoredWorkload, by: number): void {
    for (const { reason } of stored.refused) {
      this.#refusedByReason.set(reason, this.refusedRows(reason) + by);
    }
  }

  #link(index: Postings, service: string, id: string): void {
    if (!this.#servers.has(service) && !this.#callers.has(service)) {
      this.services.add(service);
    }
    index.add(service, id);
  }

  #unlink(index: Postings, service: string, id: string): void {
    const known = index.has(service);
    index.remove(service, id);
    if (known && !this.#servers.has(service) && !this.#callers.has(service)) {
      this.services.remove(service);
    }
  }
}

/** A label as one term; a key has no `=`. */
function labelTerm(key: string, value: string): string {
  return `${key}=${value}`;
}

function claimed(stored: StoredWorkload): readonly string[] {
  return stored.record.presence === Presence.EXPIRED ? [] : stored.record.addresses;
}

function served(rows: readonly EndpointRow[]): Set<string> {
  return new Set(rows.map((row) => row.service));
}
