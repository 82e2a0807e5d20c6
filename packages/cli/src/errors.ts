/** What a command can end with besides success. */
export type CliErrorCode =
  | "usage"
  | "invalid"
  | "transport"
  | "denied"
  | "refused"
  | "not-converged";

/** Exit code of the process for each error code; 0 is success. */
export const EXIT_CODES: Readonly<Record<CliErrorCode, number>> = {
  usage: 2,
  invalid: 3,
  transport: 4,
  denied: 5,
  refused: 6,
  "not-converged": 7,
};

/** One problem at one place of a file, as people and scripts read it. */
export interface FindingLine {
  readonly file: string;
  /** From 1; 0 when unknown. */
  readonly line: number;
  /** Path inside the document; empty when it concerns the whole document. */
  readonly path: string;
  /** Stable rule name. */
  readonly rule: string;
  readonly message: string;
  readonly warning: boolean;
}

/** What an error shows besides its message. */
export interface CliErrorDetails {
  /** What to do now, one line. */
  readonly hint?: string;
  readonly findings?: readonly FindingLine[];
  /** Further fields of the JSON form. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Lines below the message in the human form. */
  readonly lines?: readonly string[];
}

/** The only error that commands throw on purpose. */
export class CliError extends Error {
  readonly code: CliErrorCode;
  readonly details: CliErrorDetails;

  constructor(code: CliErrorCode, message: string, details: CliErrorDetails = {}) {
    super(message);
    this.name = "CliError";
    this.code = code;
    this.details = details;
  }

  /** Exit code of the process. */
  get exitCode(): number {
    return EXIT_CODES[this.code];
  }
}

/** Ends a command that has written its result, with an exit code that is no failure. */
export class ExitStatus extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ends with code ${exitCode}`);
    this.name = "ExitStatus";
    this.exitCode = exitCode;
  }
}

/** Reads the `code` of a system error such as `EACCES`; undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
