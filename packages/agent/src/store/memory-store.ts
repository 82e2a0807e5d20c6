import type { BodyDigest } from "@ringwall/wire";
import type { PolicyRecord } from "../record.ts";
import type { PolicyStore, StoredState } from "./policy-store.ts";

/** Keeps policies as long as the object lives: for simulation and for measuring delivery. */
export class MemoryStore implements PolicyStore {
  #prepared: PolicyRecord | undefined;
  #record: PolicyRecord | undefined;
  #refused: readonly BodyDigest[] = [];

  probe(): Promise<void> {
    return Promise.resolve();
  }

  load(): Promise<StoredState> {
    return Promise.resolve({ record: this.#record, refused: this.#refused, faults: [] });
  }

  prepare(record: PolicyRecord): Promise<void> {
    this.#prepared = record;
    return Promise.resolve();
  }

  commit(): Promise<void> {
    this.#record = this.#prepared ?? this.#record;
    this.#prepared = undefined;
    return Promise.resolve();
  }

  saveRefused(refused: readonly BodyDigest[]): Promise<void> {
    this.#refused = refused;
    return Promise.resolve();
  }
}
