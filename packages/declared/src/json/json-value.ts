/**
 * A JSON value as it was written: members in their order, numbers as their lexemes. Its strings may
 * be secrets: nothing of this type leaves the package.
 */
export type JsonValue =
  | { readonly kind: "object"; readonly members: readonly JsonMember[] }
  | { readonly kind: "array"; readonly elements: readonly JsonValue[] }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly lexeme: string }
  | { readonly kind: "literal"; readonly word: "true" | "false" | "null" };

/** A member of an object. */
export interface JsonMember {
  readonly key: string;
  readonly value: JsonValue;
}

/** The value of a key; undefined if the value is no object or has no such key. */
export function member(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (value?.kind !== "object") return undefined;
  return value.members.find((each) => each.key === key)?.value;
}

/** The text of a string value; undefined for anything else. */
export function stringOf(value: JsonValue | undefined): string | undefined {
  return value?.kind === "string" ? value.value : undefined;
}

/** A place in a JSON file: `$`, `.key`, `["odd key"]`, `[index]`. */
export function childPath(parent: string, step: string | number): string {
  if (typeof step === "number") return `${parent}[${step}]`;
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)
    ? `${parent}.${step}`
    : `${parent}[${JSON.stringify(step)}]`;
}
