/**
 * What went wrong, as a stable code.
 * - `base-mismatch`: the delta does not start at the version of the base
 * - `unknown-rule`: a peer change names a rule that the policy does not have
 * - `unknown-route`: an endpoint change names a route or split that the policy does not have
 * - `malformed-change`: a change has no variant that this build knows
 * - `malformed-policy`: a number outside its wire type
 * - `malformed-bytes`: bytes that are not the message they should be
 * - `missing-content`: a content object that a manifest names is not at hand
 * - `corrupt-content`: a content object does not have its digest or is not canonical
 * - `provenance`: a rule id that was not made by `ruleId`
 */
export type RenderedErrorCode =
  | "base-mismatch"
  | "unknown-rule"
  | "unknown-route"
  | "malformed-change"
  | "malformed-policy"
  | "malformed-bytes"
  | "missing-content"
  | "corrupt-content"
  | "provenance";

/** The one error of this package. */
export class RenderedError extends Error {
  override readonly name = "RenderedError";
  readonly code: RenderedErrorCode;

  constructor(code: RenderedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
