import { DeclaredError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { JsonMember, JsonValue } from "./json-value.ts";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them in a string
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\n\r]*/y;
const HEX = /[0-9a-fA-F]{4}/y;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

const LITERALS = ["true", "false", "null"] as const;

/** Members up to which a duplicate key is looked for one by one. */
const FEW_MEMBERS = 12;

/**
 * Reads a JSON text and keeps what a standard parser loses: the order of keys, also of those that
 * look like numbers, and the lexemes of numbers. Throws DeclaredError `json` with line and column
 * for what is no JSON, a byte order mark, a key that comes twice, or nesting above 128.
 */
export function parseJson(text: string): JsonValue {
  return new Parser(text).document();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    if (this.#text.startsWith("\ufeff")) throw this.#problem("a byte order mark; remove it");
    const value = this.#value(0);
    if (this.#at < this.#text.length) throw this.#problem("something behind the value");
    return value;
  }

  /** Reads a value with the white space around it. */
  #value(depth: number): JsonValue {
    this.#space();
    const value = this.#bareValue(depth);
    this.#space();
    return value;
  }

  #bareValue(depth: number): JsonValue {
    const first = this.#text[this.#at];
    if (first === '"') return { kind: "string", value: this.#string() };
    if (first === "{" || first === "[") {
      if (depth >= LIMITS.jsonDepth) {
        throw this.#problem(`nesting above ${LIMITS.jsonDepth}, the most that is allowed`);
      }
      this.#at += 1;
      return first === "{" ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    for (const word of LITERALS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return { kind: "literal", word };
      }
    }
    const lexeme = this.#match(NUMBER);
    if (lexeme === undefined) {
      throw this.#problem(first === undefined ? "the end where a value must be" : "no value");
    }
    return { kind: "number", lexeme };
  }

  #object(depth: number): JsonValue {
    const members: JsonMember[] = [];
    let keys: Set<string> | undefined;
    this.#space();
    if (this.#take("}")) return { kind: "object", members };
    do {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#problem("no key in double quotes");
      const start = this.#at;
      const key = this.#string();
      const twice = keys?.has(key) ?? members.some((each) => each.key === key);
      if (twice) {
        this.#at = start;
        throw this.#problem("a key that was there before in the same object");
      }
      this.#space();
      if (!this.#take(":")) throw this.#problem("no colon behind a key");
      members.push({ key, value: this.#value(depth) });
      if (members.length === FEW_MEMBERS) keys = new Set(members.map((each) => each.key));
      else keys?.add(key);
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#problem("no comma or closing brace behind a member");
    return { kind: "object", members };
  }

  #array(depth: number): JsonValue {
    const elements: JsonValue[] = [];
    this.#space();
    if (this.#take("]")) return { kind: "array", elements };
    do elements.push(this.#value(depth));
    while (this.#take(","));
    if (!this.#take("]")) throw this.#problem("no comma or closing bracket behind an element");
    return { kind: "array", elements };
  }

  #string(): string {
    this.#at += 1;
    let value = this.#match(PLAIN) ?? "";
    while (!this.#take('"')) {
      if (!this.#take("\\")) {
        const end = this.#at >= this.#text.length;
        throw this.#problem(end ? "a string without end" : "a control character in a string");
      }
      value += this.#escape();
      value += this.#match(PLAIN) ?? "";
    }
    return value;
  }

  #escape(): string {
    const letter = this.#text[this.#at] ?? "";
    this.#at += 1;
    const short = ESCAPES.get(letter);
    if (short !== undefined) return short;
    const digits = letter === "u" ? this.#match(HEX) : undefined;
    if (digits === undefined) throw this.#problem("an escape that JSON does not know");
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #space(): void {
    this.#match(SPACE);
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #problem(what: string): DeclaredError {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = before.length - before.lastIndexOf("\n");
    return new DeclaredError("json", `line ${line}, column ${column}: ${what}`);
  }
}
