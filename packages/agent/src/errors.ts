/** Closed set of what can go wrong in an agent outside of a policy's own content. */
export type AgentErrorCode =
  /** The state directory can't be written. */
  | "store-unwritable"
  /** Another agent uses the state directory. */
  | "store-in-use"
  /** The enforcement backend can't work on this host: nft or permission is missing. */
  | "backend-unavailable"
  /** A policy can't be expressed as a ruleset. */
  | "policy-not-expressible"
  /** An estate file is malformed. */
  | "estate-invalid"
  /** An annotations file is malformed. */
  | "annotations-invalid"
  /** An option has a value that is not allowed. */
  | "option-invalid";

/** An error of the agent; `code` is stable, the message says what to do. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Normalises whatever was thrown; an AgentError stays itself. */
  static from(thrown: unknown, code: AgentErrorCode): AgentError {
    if (thrown instanceof AgentError) {
      return thrown;
    }
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new AgentError(code, text, { cause: thrown });
  }
}
