import { asObject, asText, type Json } from "./json.ts";

/** What every object has. */
export interface Meta {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Reads an object's metadata; undefined if it has no name. An absent uid reads as its name. */
export function readMeta(value: Json): Meta | undefined {
  const metadata = asObject(value.metadata);
  const name = asText(metadata.name);
  if (name === "") {
    return undefined;
  }
  const namespace = asText(metadata.namespace) || "default";
  return {
    namespace,
    name,
    uid: asText(metadata.uid) || `${namespace}/${name}`,
    resourceVersion: asText(metadata.resourceVersion),
  };
}

/**
 * True if the first version is older than the second. Versions of one resource count up; where one
 * is no number, what comes later is newer.
 */
export function isOlder(a: string, b: string): boolean {
  return /^\d+$/.test(a) && /^\d+$/.test(b) && BigInt(a) < BigInt(b);
}
