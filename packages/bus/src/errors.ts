import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { PermissionViolationError } from "@nats-io/nats-core";

/** Why the bus could not do something. */
export type BusErrorCode =
  | "invalid-option"
  | "unreachable"
  | "denied"
  | "partitions-mismatch"
  | "server-too-old"
  | "topology"
  | "port-in-use"
  | "no-responders"
  | "timeout"
  | "closed";

/** The error of this package. */
export class BusError extends Error {
  override readonly name = "BusError";
  readonly code: BusErrorCode;

  constructor(code: BusErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** True if the server said that a stream does not exist. */
export function isStreamNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

/** True if the server refused a subject to this connection. */
export function isDenied(error: unknown): boolean {
  return (
    error instanceof PermissionViolationError ||
    (error instanceof Error && error.cause instanceof PermissionViolationError)
  );
}
