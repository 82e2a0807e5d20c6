import type { JsonValue } from "./json-value.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const ESCAPED = /["\\\u0000-\u001f<>&='\u2028\u2029]/g;

const SHORT: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\t", "\\t"],
  ["\b", "\\b"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\f", "\\f"],
]);

/**
 * Writes a value in the gateway's own layout: indent of two, one member or element per line, no
 * final newline; `<`, `>`, `&`, `=`, `'`, U+2028 and U+2029 escaped, everything else raw.
 */
export function writeJson(value: JsonValue): string {
  const parts: string[] = [];
  write(value, "\n", parts);
  return parts.join("");
}

function write(value: JsonValue, newline: string, parts: string[]): void {
  switch (value.kind) {
    case "string":
      parts.push(quoted(value.value));
      break;
    case "number":
      parts.push(value.lexeme);
      break;
    case "literal":
      parts.push(value.word);
      break;
    case "object": {
      const inner = `${newline}  `;
      value.members.forEach((member, index) => {
        parts.push(index === 0 ? "{" : ",", inner, quoted(member.key), ": ");
        write(member.value, inner, parts);
      });
      parts.push(value.members.length === 0 ? "{}" : `${newline}}`);
      break;
    }
    case "array": {
      const inner = `${newline}  `;
      value.elements.forEach((element, index) => {
        parts.push(index === 0 ? "[" : ",", inner);
        write(element, inner, parts);
      });
      parts.push(value.elements.length === 0 ? "[]" : `${newline}]`);
      break;
    }
  }
}

function quoted(text: string): string {
  return `"${text.replace(ESCAPED, escaped)}"`;
}

function escaped(character: string): string {
  const short = SHORT.get(character);
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
