/** Stable codes of failed operations. */
export type ApiCode =
  | "held"
  | "not_found"
  | "invalid"
  | "conflict"
  | "too_large"
  | "unavailable"
  | "wrong_environment"
  | "refused";

/** An operation can't be answered as asked. */
export class ApiFailure extends Error {
  readonly code: ApiCode;

  constructor(code: ApiCode, message: string) {
    super(message);
    this.name = "ApiFailure";
    this.code = code;
  }
}
