import { AckStatus, type BodyDigest, type Down } from "@ringwall/wire";
import type { ApplyOutcome } from "../apply.ts";
import type { BootState } from "../boot.ts";
import { type PolicyRecord, rememberRefused } from "../record.ts";
import { ChunkAssembly } from "./chunks.ts";
import type { ApplyEffect, SaveRefusedEffect } from "./contract.ts";
import { judge, type PushBody } from "./judge.ts";

/** What the intake wants done: an effect of the session, or an acknowledgement of a push. */
export type IntakeAction =
  | ApplyEffect
  | SaveRefusedEffect
  | {
      readonly kind: "ack";
      readonly down: Down;
      readonly status: AckStatus;
      readonly detail: string;
    };

/** Stands for the actions between calls; nothing is ever added to it. */
const NOTHING: IntakeAction[] = [];
Object.freeze(NOTHING);

/** Pushes that wait while one is applied; more than any gateway's window. */
export const QUEUE_LIMIT = 128;

/**
 * Takes pushes one after the other: judges each against what is in force, has it put in force and
 * acknowledges it. It outlives sessions, because the policy does.
 */
export class Intake {
  readonly #chunks = new ChunkAssembly();
  #record: PolicyRecord | undefined;
  #installed: boolean;
  /** A later one that may be in force but could not be stored: a restart goes back to the one above. */
  #unstored: PolicyRecord | undefined;
  #refused: readonly BodyDigest[];
  #queue: Down[] = [];
  #applying: { readonly down: Down; readonly record: PolicyRecord } | undefined;
  #detail = "";
  /** Actions of the present call. */
  #out: IntakeAction[] = NOTHING;

  constructor(boot: BootState) {
    this.#record = boot.record;
    this.#installed = boot.installed;
    this.#refused = boot.refused;
  }

  /** The policy that is remembered. */
  get record(): PolicyRecord | undefined {
    return this.#record;
  }

  /** True if that policy is in force. */
  get installed(): boolean {
    return this.#installed && this.#unstored === undefined;
  }

  /** The policy in force, stored or not; undefined if there is none. */
  get inForce(): PolicyRecord | undefined {
    return this.#unstored ?? (this.#installed ? this.#record : undefined);
  }

  /** The latest policy, in force or not: nothing below it is taken. */
  get latest(): PolicyRecord | undefined {
    return this.#unstored ?? this.#record;
  }

  /** Bodies that the host refused, oldest first. */
  get refused(): readonly BodyDigest[] {
    return this.#refused;
  }

  /** True while a policy is being put in force. */
  get applying(): boolean {
    return this.#applying !== undefined;
  }

  /** True if no further push can wait. */
  get full(): boolean {
    return this.#queue.length >= QUEUE_LIMIT;
  }

  /** What the last push failed with; empty if it did not. */
  get detail(): string {
    return this.#detail;
  }

  /** Drops what waits; an apply that is under way goes on. */
  forget(): void {
    this.#queue = [];
    this.#chunks.clear();
  }

  /** Takes a push: snapshot, delta or part. */
  push(down: Down): readonly IntakeAction[] {
    return this.#collect(() => {
      this.#queue.push(down);
      this.#next();
    });
  }

  /** Takes the outcome of the apply that is under way. */
  applied(outcome: ApplyOutcome): readonly IntakeAction[] {
    return this.#collect(() => {
      const applying = this.#applying;
      if (applying !== undefined) {
        this.#applying = undefined;
        this.#settle(applying.down, applying.record, outcome);
        this.#next();
      }
    });
  }

  /** An idle intake holds nothing of the last push. */
  #collect(work: () => void): readonly IntakeAction[] {
    const out: IntakeAction[] = [];
    this.#out = out;
    work();
    this.#out = NOTHING;
    return out;
  }

  #next(): void {
    while (this.#applying === undefined) {
      const down = this.#queue.shift();
      if (down === undefined) {
        return;
      }
      const body = this.#bodyOf(down);
      if (body !== undefined) {
        this.#take(down, body);
      }
    }
  }

  #bodyOf(down: Down): PushBody | undefined {
    switch (down.body.case) {
      case "snapshot":
        return { kind: "snapshot", policy: down.body.value };
      case "delta":
        return { kind: "delta", delta: down.body.value };
      case "chunk": {
        const result = this.#chunks.add(down.body.value);
        if (result.kind === "bad") {
          this.#ack(down, AckStatus.OUT_OF_STEP, result.detail);
        }
        return result.kind === "whole" ? { kind: "snapshot", policy: result.policy } : undefined;
      }
      default:
        this.#ack(down, AckStatus.OUT_OF_STEP, "push holds nothing that this agent knows");
        return undefined;
    }
  }

  #take(down: Down, body: PushBody): void {
    const verdict = judge(this.#record, down, body, this.latest);
    if (verdict.kind === "out-of-step") {
      this.#ack(down, AckStatus.OUT_OF_STEP, verdict.detail);
      return;
    }
    const { record } = verdict;
    this.#applying = { down, record };
    this.#out.push({
      kind: "apply",
      record,
      previous: this.installed ? this.#record?.policy : undefined,
      installed: this.installed && this.#record?.digest === record.digest,
    });
  }

  #settle(down: Down, record: PolicyRecord, outcome: ApplyOutcome): void {
    switch (outcome.kind) {
      case "applied":
        this.#record = record;
        this.#installed = true;
        this.#unstored = undefined;
        if (this.#refused.includes(record.digest)) {
          this.#setRefused(this.#refused.filter((digest) => digest !== record.digest));
        }
        this.#ack(down, AckStatus.APPLIED, "");
        return;
      case "refused":
        this.#setRefused(rememberRefused(this.#refused, record.digest));
        this.#ack(down, AckStatus.REFUSED, outcome.detail);
        return;
      case "failed":
        this.#unstored = outcome.mayBeInForce ? record : this.#unstored;
        this.#ack(down, AckStatus.OUT_OF_STEP, `FAILED: ${outcome.detail}`);
        return;
      default:
        outcome satisfies never;
    }
  }

  #setRefused(refused: readonly BodyDigest[]): void {
    this.#refused = refused;
    this.#out.push({ kind: "save-refused", refused });
  }

  #ack(down: Down, status: AckStatus, detail: string): void {
    this.#detail = detail;
    this.#out.push({ kind: "ack", down, status, detail });
  }
}
