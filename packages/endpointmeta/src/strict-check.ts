import type { PortClass } from "@ringwall/wire";
import {
  type Annotations,
  DEFAULT_PORT,
  METADATA_PREFIX,
  PORT_ANNOTATION,
  PORTS_ANNOTATION,
  PROTOCOL_ANNOTATION,
  port,
  protocol,
  WEIGHT_ANNOTATION,
  weight,
} from "./annotations.ts";
import { EndpointError, quote } from "./errors.ts";
import { portClassName } from "./port-class.ts";
import { type PortEntry, portEntries } from "./port-entries.ts";
import { PORT_SUFFIXES, suffixClass } from "./port-protocols.ts";
import { DEFAULT_RESERVED_PORTS } from "./reserved-ports.ts";

/** Stable codes of the strict check. */
export type ProblemCode =
  | "protocol"
  | "port"
  | "ports-entry"
  | "port-protocol-suffix"
  | "weight"
  | "port-zero"
  | "port-conflict"
  | "primary-retyped"
  | "port-reserved"
  | "unknown-annotation";

/** One problem of a workload's annotations. */
export interface Problem {
  readonly code: ProblemCode;
  /** Annotation concerned. */
  readonly annotation: string;
  /** Entry of the ports annotation, trimmed; empty for the others. */
  readonly entry: string;
  /** Offending value. */
  readonly value: string;
  /** What is wrong and what to write instead. */
  readonly message: string;
}

/** What the strict check may be told. */
export interface StrictOptions {
  /** Ports that the mesh keeps for itself; default 18001, 18008, 18081, 18082. */
  readonly reservedPorts?: readonly number[];
}

const ANNOTATION_PREFIX = "endpoint.aether.io/";
const KNOWN = [PORT_ANNOTATION, PORTS_ANNOTATION, PROTOCOL_ANNOTATION, WEIGHT_ANNOTATION];

/**
 * Every problem of the annotations at once, beyond what the compatible reading refuses. In order:
 * protocol, port, entries of ports as they stand, weight, then other annotations by key.
 * - `protocol`, `port`, `ports-entry`, `port-protocol-suffix`, `weight`: does not parse;
 * - `port-zero`: port 0, which nothing can serve;
 * - `port-reserved`: a port that the mesh keeps for itself, once per annotation;
 * - `port-conflict`: an entry that gives a port another class than an entry before it;
 * - `primary-retyped`: an entry that gives the primary port another class than the protocol
 *   annotation does, once per class;
 * - `unknown-annotation`: a key `endpoint.aether.io/…` or an empty metadata key that nothing reads.
 *
 * What depends on an annotation that does not parse is not judged.
 */
export function strictCheck(annotations: Annotations, options: StrictOptions = {}): Problem[] {
  const reserved = new Set(options.reservedPorts ?? DEFAULT_RESERVED_PORTS);
  const problems: Problem[] = [];
  const own = collect(problems, () => protocol(annotations));
  const primary = collect(problems, () => port(annotations));
  if (primary !== undefined) checkPrimary(problems, primary, annotations, reserved);
  const entries = new EntryCheck(problems, own, primary, reserved);
  for (const entry of portEntries(annotations?.[PORTS_ANNOTATION])) entries.check(entry);
  collect(problems, () => weight(annotations));
  problems.push(...unknownAnnotations(annotations));
  return problems;
}

function collect<T>(problems: Problem[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error;
    const { code, subject, value, message } = error;
    // Only these three are read through here; row and entry codes come from elsewhere.
    if (code === "protocol" || code === "port" || code === "weight") {
      problems.push({ code, annotation: subject, entry: "", value, message });
      return undefined;
    }
    throw error;
  }
}

function checkPrimary(
  problems: Problem[],
  primary: number,
  annotations: Annotations,
  reserved: ReadonlySet<number>,
): void {
  const value = annotations?.[PORT_ANNOTATION] ?? String(DEFAULT_PORT);
  const at = { annotation: PORT_ANNOTATION, entry: "", value };
  if (primary === 0)
    problems.push({ code: "port-zero", ...at, message: zeroMessage("primary port") });
  if (reserved.has(primary)) {
    problems.push({ code: "port-reserved", ...at, message: reservedMessage(primary) });
  }
}

/** Checks the entries of one list, remembering what earlier ones said. */
class EntryCheck {
  readonly #problems: Problem[];
  readonly #own: PortClass | undefined;
  readonly #primary: number | undefined;
  readonly #reserved: ReadonlySet<number>;
  readonly #classes = new Map<number, PortClass>();
  readonly #reported = new Set<string>();

  constructor(
    problems: Problem[],
    own: PortClass | undefined,
    primary: number | undefined,
    reserved: ReadonlySet<number>,
  ) {
    this.#problems = problems;
    this.#own = own;
    this.#primary = primary;
    this.#reserved = reserved;
  }

  check(entry: PortEntry): void {
    if (entry.port === undefined) {
      const message = `${quote(entry.number)} is no port; write a number from 1 to 65535`;
      this.#report("ports-entry", entry, entry.number, message);
    } else {
      this.#checkNumber(entry, entry.port);
    }
    const named = entry.suffix === "" ? this.#own : suffixClass(entry.suffix);
    if (named === undefined && entry.suffix !== "") {
      const message = `${quote(entry.suffix)} names no protocol; write one of ${PORT_SUFFIXES.join(", ")}`;
      this.#report("port-protocol-suffix", entry, entry.suffix, message);
    }
    if (named !== undefined && entry.port !== undefined) this.#checkClass(entry, entry.port, named);
  }

  #checkNumber(entry: PortEntry, number: number): void {
    if (number === 0) this.#reportOnce("port-zero", number, entry, zeroMessage("listed port"));
    if (this.#reserved.has(number)) {
      this.#reportOnce("port-reserved", number, entry, reservedMessage(number));
    }
  }

  #checkClass(entry: PortEntry, number: number, named: PortClass): void {
    const before = this.#classes.get(number);
    this.#classes.set(number, named);
    if (before !== undefined && before !== named) {
      const message =
        `port ${number} was ${portClassName(before)} and is now ${portClassName(named)}; ` +
        "the last entry wins, keep one";
      this.#report("port-conflict", entry, entry.suffix, message);
    }
    if (number !== this.#primary || this.#own === undefined || named === this.#own) return;
    const key = `primary-retyped ${named}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    const message =
      `the primary port ${number} becomes ${portClassName(named)} although the workload's protocol ` +
      `is ${portClassName(this.#own)}; set ${PROTOCOL_ANNOTATION} instead`;
    this.#report("primary-retyped", entry, entry.suffix, message);
  }

  #reportOnce(code: ProblemCode, number: number, entry: PortEntry, message: string): void {
    const key = `${code} ${number}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#report(code, entry, entry.number, message);
  }

  #report(code: ProblemCode, entry: PortEntry, value: string, message: string): void {
    this.#problems.push({ code, annotation: PORTS_ANNOTATION, entry: entry.text, value, message });
  }
}

function unknownAnnotations(annotations: Annotations): Problem[] {
  return Object.entries(annotations ?? {})
    .filter(([key]) => key.startsWith(ANNOTATION_PREFIX) || key === METADATA_PREFIX)
    .filter(([key]) => !KNOWN.includes(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([annotation, value]) => {
      const instead = annotation === METADATA_PREFIX ? `${METADATA_PREFIX}<key>` : KNOWN.join(", ");
      const message = `nothing reads ${quote(annotation)}; write ${instead}`;
      return { code: "unknown-annotation", annotation, entry: "", value, message };
    });
}

function zeroMessage(what: string): string {
  return `the ${what} is 0; write a number from 1 to 65535`;
}

function reservedMessage(number: number): string {
  return `port ${number} is reserved for the mesh; serve on another`;
}
