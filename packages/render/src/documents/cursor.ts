import { isAlias, isMap, isScalar, isSeq, type LineCounter, type ParsedNode } from "yaml";
import type { Finding, FindingRule } from "../finding.ts";

/** What is collected while one document is read. */
export interface Reading {
  readonly file: string;
  readonly counter: LineCounter;
  readonly findings: Finding[];
  /** Line of every path that was looked at. */
  readonly lines: Map<string, number>;
}

/** One place of a document: reads it strictly and notes what does not fit. */
export class Cursor {
  readonly #reading: Reading;
  readonly #node: ParsedNode | null;
  readonly path: string;
  readonly #offset: number;

  constructor(reading: Reading, node: ParsedNode | null, path: string, offset: number) {
    this.#reading = reading;
    this.#node = node;
    this.path = path;
    this.#offset = node?.range[0] ?? offset;
    reading.lines.set(path, reading.counter.linePos(this.#offset).line);
  }

  /** Notes a finding here, or at `path` if it is given. */
  fault(rule: FindingRule, message: string, path: string = this.path): undefined {
    const line = this.#reading.lines.get(path) ?? this.#reading.counter.linePos(this.#offset).line;
    this.#reading.findings.push({ file: this.#reading.file, line, path, rule, message });
    return undefined;
  }

  /** A map with these keys and no other. */
  fields(keys: readonly string[]): Fields | undefined {
    const place = (key: string) => (this.path === "" ? key : `${this.path}.${key}`);
    const entries = this.#entries(place);
    if (entries === undefined) {
      return undefined;
    }
    const found = new Map<string, Cursor>();
    for (const { key, node, offset } of entries) {
      const cursor = new Cursor(this.#reading, node, place(key), offset);
      if (keys.includes(key)) {
        found.set(key, cursor);
      } else {
        cursor.fault("key-unknown", `key "${key}" is not known here; known are ${keys.join(", ")}`);
      }
    }
    return new Fields(this, found);
  }

  /** A map from free text to values. */
  record<Value>(read: (cursor: Cursor) => Value | undefined): Record<string, Value> | undefined {
    const place = (key: string) => `${this.path}[${key}]`;
    const entries = this.#entries(place);
    if (entries === undefined) {
      return undefined;
    }
    const result: [string, Value][] = [];
    for (const { key, node, offset } of entries) {
      const value = read(new Cursor(this.#reading, node, place(key), offset));
      if (value !== undefined) {
        result.push([key, value]);
      }
    }
    return Object.fromEntries(result);
  }

  /** A list. */
  list<Value>(read: (cursor: Cursor) => Value | undefined): Value[] | undefined {
    if (!isSeq<ParsedNode | null>(this.#node)) {
      return this.#mismatch("a list");
    }
    return this.#node.items.flatMap((item, index) => {
      const value = read(new Cursor(this.#reading, item, `${this.path}[${index}]`, this.#offset));
      return value === undefined ? [] : [value];
    });
  }

  /** Text. A number or boolean is refused, because YAML may have changed how it was written. */
  text(): string | undefined {
    const value = this.#scalar();
    if (typeof value === "string") {
      return value;
    }
    const hint =
      value === undefined || value === null ? "" : `; write "${String(value)}" in quotes`;
    return this.#mismatch("text", hint);
  }

  /** Text, or a whole number written in decimal digits. */
  textOrDigits(): string | undefined {
    const node = this.#node;
    if (isScalar(node) && typeof node.value === "number" && /^\d+$/.test(node.source ?? "")) {
      return node.source;
    }
    return this.text();
  }

  boolean(): boolean | undefined {
    const value = this.#scalar();
    return typeof value === "boolean" ? value : this.#mismatch("true or false");
  }

  /** A whole number from 0 to 4294967295. */
  unsigned(): number | undefined {
    const value = this.#scalar();
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffffffff) {
      return this.#mismatch("a whole number from 0 to 4294967295");
    }
    return value;
  }

  /** The text under a key of this map, without noting anything. */
  peekText(key: string): string | undefined {
    const map = this.#node;
    if (!isMap<ParsedNode, ParsedNode | null>(map)) {
      return undefined;
    }
    const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key);
    const value = isScalar(pair?.value) ? pair.value.value : undefined;
    return typeof value === "string" ? value : undefined;
  }

  /** True if this place holds text, so that a text form can be told from a structure. */
  get isText(): boolean {
    return typeof this.#scalar() === "string";
  }

  /** True if this place holds a list. */
  get isList(): boolean {
    return isSeq(this.#node);
  }

  #scalar(): unknown {
    return isScalar(this.#node) ? this.#node.value : undefined;
  }

  #entries(
    place: (key: string) => string,
  ): { key: string; node: ParsedNode | null; offset: number }[] | undefined {
    const map = this.#node;
    if (!isMap<ParsedNode, ParsedNode | null>(map)) {
      return this.#mismatch("a map");
    }
    const seen = new Set<string>();
    return map.items.flatMap((pair) => {
      const offset = pair.key.range[0];
      if (!isScalar(pair.key) || typeof pair.key.value !== "string") {
        const cursor = new Cursor(this.#reading, pair.key, this.path, offset);
        return cursor.fault("type", "a key must be text; write it in quotes") ?? [];
      }
      const key = pair.key.value;
      if (seen.has(key)) {
        const at = this.#reading.counter.linePos(offset).line;
        this.#reading.findings.push({
          file: this.#reading.file,
          line: at,
          path: place(key),
          rule: "key-duplicate",
          message: `key "${key}" stands here twice; keep one`,
        });
        return [];
      }
      seen.add(key);
      return [{ key, node: pair.value, offset }];
    });
  }

  #mismatch(wanted: string, hint = ""): undefined {
    return this.fault("type", `must be ${wanted}, but is ${describeNode(this.#node)}${hint}`);
  }
}

/** The fields of a map that was read strictly. */
export class Fields {
  readonly #cursor: Cursor;
  readonly #found: ReadonlyMap<string, Cursor>;

  constructor(cursor: Cursor, found: ReadonlyMap<string, Cursor>) {
    this.#cursor = cursor;
    this.#found = found;
  }

  /** Reads a key that must be there; undefined after a finding. */
  required<Value>(key: string, read: (cursor: Cursor) => Value | undefined): Value | undefined {
    const cursor = this.#found.get(key);
    if (cursor === undefined) {
      return this.#cursor.fault("key-required", `key "${key}" is missing`);
    }
    return read(cursor);
  }

  /** Reads a key that may be absent: an object with that one key, or an empty one. */
  optional<Key extends string, Value>(
    key: Key,
    read: (cursor: Cursor) => Value | undefined,
  ): { readonly [K in Key]?: Value } {
    const cursor = this.#found.get(key);
    const value = cursor === undefined ? undefined : read(cursor);
    // A computed key widens to a string index, although it is exactly Key.
    return (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };
  }
}

function describeNode(node: ParsedNode | null): string {
  if (node === null) {
    return "empty";
  }
  if (isMap(node)) {
    return "a map";
  }
  if (isSeq(node)) {
    return "a list";
  }
  if (isAlias(node)) {
    return "an alias, which documents may not use";
  }
  const value = node.value;
  return value === null ? "empty" : typeof value === "string" ? "text" : `a ${typeof value}`;
}
