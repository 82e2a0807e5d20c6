import { childPath, type JsonValue, member, stringOf } from "../json/json-value.ts";
import type { SecretPath } from "../profile/profile.ts";

/** How a secret was recognised. */
export type SecretKind = "embedded" | "plaintext";

/** Where a secret stands. There is no field that could carry its value. */
export interface SecretPlace {
  /** Place in the JSON file, such as `$.extra[0].a`. */
  readonly path: string;
  readonly kind: SecretKind;
}

const TELLING = /password|secret/i;

/**
 * Looks for secrets in a JSON file: an embedded one anywhere; at the type's own places whatever is
 * neither null nor a reference; for types without such places a non-empty string under a key that
 * tells by its name.
 */
export function scanSecrets(
  root: JsonValue,
  file: string,
  secretPaths: readonly SecretPath[],
): SecretPlace[] {
  const found: SecretPlace[] = [];
  const byName = secretPaths.length === 0;
  walk(root, "$", (value, path, key) => {
    if (isEmbedded(value)) {
      found.push({ path, kind: "embedded" });
      return "leave";
    }
    if (isReference(value)) return "leave";
    if (byName && key !== undefined && TELLING.test(key) && (stringOf(value) ?? "") !== "") {
      found.push({ path, kind: "plaintext" });
    }
    return "enter";
  });
  for (const { file: name, keys } of secretPaths) {
    if (name !== file) continue;
    const place = atKeys(root, keys);
    if (place === undefined || isEmbedded(place.value) || isHarmless(place.value)) continue;
    found.push({ path: place.path, kind: "plaintext" });
  }
  return found;
}

/** Calls `visit` for every value, with the key that it stands under, arrays passed through. */
function walk(
  value: JsonValue,
  path: string,
  visit: (value: JsonValue, path: string, key?: string) => "enter" | "leave",
  key?: string,
): void {
  if (visit(value, path, key) === "leave") return;
  if (value.kind === "object") {
    for (const each of value.members) {
      walk(each.value, childPath(path, each.key), visit, each.key);
    }
  } else if (value.kind === "array") {
    value.elements.forEach((element, index) => {
      walk(element, childPath(path, index), visit, key);
    });
  }
}

function atKeys(root: JsonValue, keys: readonly string[]) {
  let value: JsonValue | undefined = root;
  let path = "$";
  for (const key of keys) {
    value = member(value, key);
    path = childPath(path, key);
  }
  return value === undefined ? undefined : { value, path };
}

function isHarmless(value: JsonValue): boolean {
  return (value.kind === "literal" && value.word === "null") || isReference(value);
}

/** True for an object with `"type": "Embedded"`, whatever else it holds. */
export function isEmbedded(value: JsonValue): boolean {
  return stringOf(member(value, "type")) === "Embedded";
}

/** True for exactly `{"type":"Referenced","data":{"providerName":…,"secretName":…}}`. */
export function isReference(value: JsonValue): boolean {
  if (stringOf(member(value, "type")) !== "Referenced" || !hasKeys(value, 2)) return false;
  const data = member(value, "data");
  return (
    hasKeys(data, 2) &&
    stringOf(member(data, "providerName")) !== undefined &&
    stringOf(member(data, "secretName")) !== undefined
  );
}

function hasKeys(value: JsonValue | undefined, count: number): boolean {
  return value?.kind === "object" && value.members.length === count;
}

/** The value with every secret replaced by a mark, for showing. */
export function withoutSecrets(
  root: JsonValue,
  file: string,
  secretPaths: readonly SecretPath[],
): JsonValue {
  // For showing, telling key names count in every type: a place too many does no harm.
  const places = [...scanSecrets(root, file, secretPaths), ...scanSecrets(root, file, [])];
  const hidden = new Set(places.map(({ path }) => path));
  return hidden.size === 0 ? root : masked(root, "$", hidden);
}

const MARK: JsonValue = { kind: "string", value: "[secret]" };

function masked(value: JsonValue, path: string, hidden: ReadonlySet<string>): JsonValue {
  if (hidden.has(path)) return MARK;
  if (value.kind === "object") {
    const members = value.members.map((each) => ({
      key: each.key,
      value: masked(each.value, childPath(path, each.key), hidden),
    }));
    return { kind: "object", members };
  }
  if (value.kind === "array") {
    const elements = value.elements.map((element, index) =>
      masked(element, childPath(path, index), hidden),
    );
    return { kind: "array", elements };
  }
  return value;
}
