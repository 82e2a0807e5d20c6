import type { Moment, Outbox, Tasks } from "@ringwall/actor";
import type { Names } from "@ringwall/bus";

/** Intervals of the renderer; each has a default. */
export interface RendererOptions {
  /** Quiet time after a change before it is rendered. Default 10 ms. */
  readonly quietMs: number;
  /** Longest time that a change waits for quiet. Default 100 ms. */
  readonly windowMs: number;
  /** Age above which content is stored again before it is named. Default 1 h. */
  readonly contentAgeMs: number;
  /** Wait before something that failed is tried again. Default 1 s. */
  readonly retryMs: number;
  /** How often a held control plane is looked at again. Default 10 s. */
  readonly heldCheckMs: number;
}

/** The defaults. */
export const DEFAULT_OPTIONS: RendererOptions = {
  quietMs: 10,
  windowMs: 100,
  contentAgeMs: 60 * 60 * 1000,
  retryMs: 1_000,
  heldCheckMs: 10_000,
};

/** What every part of the renderer works with. */
export interface Context {
  readonly names: Names;
  readonly instance: string;
  /** Environment that this instance was started for. */
  readonly environment: string;
  readonly options: RendererOptions;
  readonly outbox: Outbox;
  readonly tasks: Tasks;
  /** The moment of the present step. */
  readonly moment: () => Moment;
  /** A new id for a fenced write. */
  readonly writeId: () => string;
}

/** Hex digits of bytes. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Bytes of hex digits. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "hex"));
}
