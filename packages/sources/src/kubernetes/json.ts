/** An object of parsed JSON whose members are not known yet. */
export type Json = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one if it is none. */
export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** True for objects that are no lists. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a list; an empty one if it is none. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; empty if it is none. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The members of a map whose values are texts. */
export function textMap(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(asObject(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
}
