import { isMap, isScalar, LineCounter, type Node, type Pair, parseDocument } from "yaml";
import { DeclaredError, type DeclaredErrorCode } from "../errors.ts";
import type { Finding, FindingCode } from "../finding.ts";
import { LIMITS } from "../limits.ts";

/** Reads the value of one key; gives a text with what is wrong if it is not as it must be. */
export type FieldReader<Value> = (value: unknown) => { readonly value: Value } | string;

/** Readers by key; a key without a reader is refused. */
export type Fields<Shape> = { readonly [Key in keyof Shape]: FieldReader<Shape[Key]> };

/** A file to read, as findings name it. */
export interface YamlFile {
  readonly path: string;
  readonly text: string;
  readonly code: Extract<DeclaredErrorCode, "manifest" | "target">;
}

/**
 * Reads a mapping strictly: unknown and duplicate keys and values of another form are refused, all
 * at once, with line and column. Throws DeclaredError with the file's code.
 */
export function readFields<Shape>(file: YamlFile, fields: Fields<Shape>): Partial<Shape> {
  const { path, text, code } = file;
  const found: Finding[] = [];
  const lines = new LineCounter();
  const note = (offset: number | undefined, kind: FindingCode, message: string) => {
    const at = offset === undefined ? undefined : lines.linePos(offset);
    const place = at === undefined ? {} : { line: at.line, column: at.col };
    found.push({ path, code: kind, message, ...place });
  };
  const fail = () => {
    const [first] = found;
    const place = first?.line === undefined ? "" : `:${first.line}:${first.column}`;
    const more = found.length > 1 ? ` and ${found.length - 1} more` : "";
    return new DeclaredError(code, `${path}${place}: ${first?.message}${more}`, found);
  };
  const size = Buffer.byteLength(text);
  if (size > LIMITS.manifestBytes) {
    const most = LIMITS.manifestBytes;
    note(undefined, "value-invalid", `the file has ${size} bytes, at most ${most} are allowed`);
    throw fail();
  }
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  for (const { pos, message } of document.errors) {
    note(pos[0], "yaml-invalid", message.split("\n")[0] ?? "no YAML");
  }
  if (found.length > 0) throw fail();
  if (!isMap<unknown, Node | null>(document.contents)) {
    note(0, "value-invalid", "no mapping of keys to values");
    throw fail();
  }
  const read: Partial<Shape> = {};
  for (const pair of document.contents.items) readPair(pair, fields, read, note);
  if (found.length > 0) throw fail();
  return read;
}

function readPair<Shape>(
  { key, value }: Pair<unknown, Node | null>,
  fields: Fields<Shape>,
  read: Partial<Shape>,
  note: (offset: number | undefined, kind: FindingCode, message: string) => void,
): void {
  const name = isScalar(key) ? String(key.value) : "";
  const offset = isScalar(key) ? key.range?.[0] : undefined;
  if (!isField(name, fields)) {
    const allowed = Object.keys(fields).join(", ");
    note(offset, "key-unknown", `the key ${name} is not known; there are ${allowed}`);
  } else if (Object.hasOwn(read, name)) {
    note(offset, "key-duplicate", `the key ${name} comes twice`);
  } else {
    const outcome = fields[name](value === null ? null : plain(value));
    if (typeof outcome === "string") {
      note(value?.range?.[0] ?? offset, "value-invalid", `${name}: ${outcome}`);
    } else {
      read[name] = outcome.value;
    }
  }
}

function isField<Shape>(name: string, fields: Fields<Shape>): name is keyof Shape & string {
  return Object.hasOwn(fields, name);
}

/** The plain value of a node; undefined for aliases, which nothing here needs. */
function plain(node: Node): unknown {
  return "toJSON" in node ? node.toJSON() : undefined;
}
