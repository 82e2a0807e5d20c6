import { AgentError } from "../errors.ts";

/** What a policy holds that no rule can say; the host answers REFUSED with this message. */
export function inexpressible(message: string): AgentError {
  return new AgentError("policy-not-expressible", message);
}

/** A port that a rule may name. Throws AgentError `policy-not-expressible` for another number. */
export function checkPort(port: number): number {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw inexpressible(`port ${port} is not in 0 to 65535`);
  }
  return port;
}
