import type { ServiceKeyText } from "@ringwall/wire";
import { EndpointError } from "./errors.ts";

/** The two parts of a service key. */
export interface ServiceKey {
  readonly namespace: string;
  readonly service: string;
}

const RFC_1123 = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const FORM = "write <namespace>/<service>";

/**
 * Reads `<namespace>/<service>` leniently: exactly one slash with text on both sides; case and
 * other characters are kept. What is registered is checked strictly by `checkServiceKey`.
 *
 * Throws EndpointError `service-key`.
 */
export function parseServiceKey(text: string): ServiceKey {
  const [namespace, service, ...more] = text.split("/");
  if (!namespace || !service || more.length > 0) {
    throw new EndpointError("service-key", "service", text, FORM);
  }
  return { namespace, service };
}

/** True if both parts are RFC 1123 labels: 1 to 63 of `[a-z0-9-]`, no dash at either end. */
export function isServiceKey(text: string): text is ServiceKeyText {
  const parts = text.split("/");
  return parts.length === 2 && parts.every((part) => RFC_1123.test(part));
}

/**
 * The strict reading for write paths: returns the text if both parts are RFC 1123 labels.
 *
 * Throws EndpointError `service-key`.
 */
export function checkServiceKey(text: string): ServiceKeyText {
  if (isServiceKey(text)) return text;
  const hint = `${FORM}, each 1 to 63 of a-z, 0-9 and -, beginning and ending with a-z or 0-9`;
  throw new EndpointError("service-key", "service", text, hint);
}
