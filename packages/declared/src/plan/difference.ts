import { readJsonFile } from "../json/json-format.ts";
import { childPath, type JsonValue } from "../json/json-value.ts";
import { isText } from "../lints/text.ts";
import type { Content } from "../tree/content.ts";

/**
 * Says in words where two versions of a file differ first, without a value: a member of a JSON file,
 * a line of a text, else a byte. Undefined for a side means that the file is not there.
 */
export function firstDifference(
  path: string,
  live: Content | undefined,
  desired: Content | undefined,
): string {
  if (live === undefined) return "the file is not live";
  if (desired === undefined) return "the file is live only";
  if (live.equals(desired)) return "the same";
  if (path.endsWith(".json")) {
    const left = readJsonFile(live);
    const right = readJsonFile(desired);
    if (typeof left !== "string" && typeof right !== "string") {
      return (
        jsonDifference(left.value, right.value, "$") ?? `layout only, ${byteText(live, desired)}`
      );
    }
  }
  if (isText(live) && isText(desired)) return lineText(live, desired);
  return byteText(live, desired);
}

function jsonDifference(live: JsonValue, desired: JsonValue, path: string): string | undefined {
  if (live.kind === "object" && desired.kind === "object") {
    return memberDifference(live, desired, path);
  }
  if (live.kind === "array" && desired.kind === "array") {
    for (const [index, element] of live.elements.entries()) {
      const other = desired.elements[index];
      const place = childPath(path, index);
      if (other === undefined) return `the element ${place} is live only`;
      const inside = jsonDifference(element, other, place);
      if (inside !== undefined) return inside;
    }
    return desired.elements.length > live.elements.length
      ? `the element ${childPath(path, live.elements.length)} is not live`
      : undefined;
  }
  return isSameScalar(live, desired) ? undefined : `another value at ${path}`;
}

type JsonObject = Extract<JsonValue, { kind: "object" }>;

function memberDifference(live: JsonObject, desired: JsonObject, path: string): string | undefined {
  const wanted = new Map(desired.members.map((each) => [each.key, each.value]));
  const held = new Set(live.members.map((each) => each.key));
  for (const { key, value } of live.members) {
    const place = childPath(path, key);
    const other = wanted.get(key);
    if (other === undefined) return `the member ${place} is live only`;
    const inside = jsonDifference(value, other, place);
    if (inside !== undefined) return inside;
  }
  for (const { key } of desired.members) {
    if (!held.has(key)) return `the member ${childPath(path, key)} is not live`;
  }
  const reordered = live.members.some(({ key }, index) => desired.members[index]?.key !== key);
  return reordered ? `another order of the members of ${path}` : undefined;
}

function isSameScalar(a: JsonValue, b: JsonValue): boolean {
  if (a.kind === "string" && b.kind === "string") return a.value === b.value;
  if (a.kind === "number" && b.kind === "number") return a.lexeme === b.lexeme;
  return a.kind === "literal" && b.kind === "literal" && a.word === b.word;
}

const LINE_FEED = 0x0a;

function lineText(live: Content, desired: Content): string {
  const offset = firstByte(live, desired);
  let line = 1;
  for (let index = 0; index < offset; index += 1) if (live.bytes[index] === LINE_FEED) line += 1;
  return `line ${line}`;
}

function byteText(live: Content, desired: Content): string {
  return `byte ${firstByte(live, desired)} (${live.size} live, ${desired.size} declared)`;
}

function firstByte({ bytes: a }: Content, { bytes: b }: Content): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index += 1) if (a[index] !== b[index]) return index;
  return shorter;
}
