import type { FailureCode } from "../message.ts";

/** An effect of a task failed. */
export class EffectFailed extends Error {
  override readonly name = "EffectFailed";
  readonly code: FailureCode;

  constructor(effect: string, code: FailureCode, detail: string) {
    super(`${effect} failed (${code}): ${detail}`);
    this.code = code;
  }
}
