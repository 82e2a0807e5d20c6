/**
 * What went wrong: `port`, `ports-entry`, `protocol`, `weight` and `port-protocol-suffix` are
 * annotations that do not parse, `service-key` is a text that names no service, the others are
 * rows that must not be stored.
 */
export type EndpointErrorCode =
  | "port"
  | "ports-entry"
  | "protocol"
  | "weight"
  | "port-protocol-suffix"
  | "service-key"
  | "no_port_protocols"
  | "port_not_typed"
  | "port_not_listed";

/** The only error that this package throws. */
export class EndpointError extends Error {
  override readonly name = "EndpointError";
  readonly code: EndpointErrorCode;
  /** What the value was read from: an annotation key, `service` or `row`. */
  readonly subject: string;
  /** Offending value. */
  readonly value: string;

  constructor(code: EndpointErrorCode, subject: string, value: string, hint: string) {
    super(`${subject}: ${quote(value)} is not valid (${code}); ${hint}`);
    this.code = code;
    this.subject = subject;
    this.value = value;
  }
}

/** The value as JSON text, cut at 80 UTF-16 units so that a message stays one line. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
}
