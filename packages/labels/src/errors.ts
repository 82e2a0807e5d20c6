/** What went wrong: `selector-syntax` is a text that is no selector. */
export type LabelsErrorCode = "selector-syntax";

/** The only error that this package throws. */
export class LabelsError extends Error {
  override readonly name = "LabelsError";
  readonly code: LabelsErrorCode;

  constructor(code: LabelsErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
