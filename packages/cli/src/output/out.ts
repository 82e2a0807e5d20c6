import { CliError, messageOf } from "../errors.ts";
import { findingLines } from "./findings.ts";
import { choosePaint, type Paint } from "./paint.ts";
import { type Column, renderTable } from "./table.ts";

/** Where text goes: the part of a stream that the command needs. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** What the output is made of. */
export interface OutOptions {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly json: boolean;
  readonly colour: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Results go to stdout, everything said on the way to stderr, so that output can be piped. With
 * `--json` stdout carries exactly one document, or one document per line for streams.
 */
export class Out {
  readonly json: boolean;
  /** Colours for stdout. */
  readonly paint: Paint;
  readonly #errorPaint: Paint;
  readonly #stdout: TextSink;
  readonly #stderr: TextSink;

  constructor(options: OutOptions) {
    this.json = options.json;
    this.#stdout = options.stdout;
    this.#stderr = options.stderr;
    const paintFor = (sink: TextSink) =>
      choosePaint({
        isTerminal: sink.isTTY === true,
        wanted: options.colour,
        environment: options.environment,
      });
    this.paint = paintFor(options.stdout);
    this.#errorPaint = paintFor(options.stderr);
  }

  /** True where lines can be redrawn in place. */
  get isTerminal(): boolean {
    return this.#stdout.isTTY === true && !this.json;
  }

  /** Columns of the terminal; without one, no limit. */
  get columns(): number {
    return this.isTerminal ? (this.#stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  }

  /** Writes one result: `value` as JSON, or what `human` gives. */
  result(value: unknown, human: () => readonly string[]): void {
    if (this.json) this.#stdout.write(`${toJson(value, 2)}\n`);
    else this.lines(human());
  }

  /** Writes one element of a stream. */
  event(value: unknown, human: () => string): void {
    this.#stdout.write(`${this.json ? toJson(value) : human()}\n`);
  }

  /** Writes lines of the human form. */
  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.#stdout.write(`${lines.join("\n")}\n`);
  }

  /** Writes text as it is: control sequences of a screen. */
  raw(text: string): void {
    this.#stdout.write(text);
  }

  /** An aligned table for this terminal, titles dimmed. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
    const [titles = "", ...rest] = renderTable(columns, rows, this.columns);
    return [this.paint.dim(titles), ...rest];
  }

  /** Says something on the way, for people only. */
  note(text: string): void {
    this.#stderr.write(`${text}\n`);
  }

  /** Says something that deserves attention but does not stop the command. */
  warn(text: string): void {
    this.#stderr.write(`${this.#errorPaint.yellow("warning:")} ${text}\n`);
  }

  /** Writes what went wrong and gives the exit code. */
  failure(error: unknown): number {
    const known = error instanceof CliError ? error : undefined;
    if (this.json) {
      this.#stdout.write(`${toJson(errorDocument(error), 2)}\n`);
      return known?.exitCode ?? 1;
    }
    const findings = known?.details.findings ?? [];
    for (const line of findingLines(findings, this.#errorPaint)) this.#stderr.write(`${line}\n`);
    this.#stderr.write(`${this.#errorPaint.red("error:")} ${messageOf(error)}\n`);
    for (const line of known?.details.lines ?? []) this.#stderr.write(`  ${line}\n`);
    const hint = known?.details.hint;
    if (hint !== undefined) this.#stderr.write(`${this.#errorPaint.dim("→")} ${hint}\n`);
    if (known === undefined && error instanceof Error && error.stack !== undefined) {
      this.#stderr.write(`${this.#errorPaint.dim(error.stack)}\n`);
    }
    return known?.exitCode ?? 1;
  }
}

function errorDocument(error: unknown): unknown {
  if (!(error instanceof CliError)) {
    return { error: { code: "internal", exitCode: 1, message: messageOf(error) } };
  }
  const { hint, findings, data } = error.details;
  return {
    error: {
      code: error.code,
      exitCode: error.exitCode,
      message: error.message,
      ...(hint === undefined ? {} : { hint }),
      ...(findings === undefined ? {} : { findings }),
      ...data,
    },
  };
}

/** JSON text of values that may hold bigints (safe ones as numbers) and bytes (as hex). */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, replace, indent);
}

function replace(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") {
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString();
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}
