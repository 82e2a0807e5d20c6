import { DeclaredError } from "../errors.ts";
import type { Content } from "../tree/content.ts";
import type { JsonValue } from "./json-value.ts";
import { parseJson } from "./parse-json.ts";
import { writeJson } from "./write-json.ts";

/**
 * `gateway`: writing the parsed text gives the same bytes, so the file may be rewritten. `opaque`:
 * it does not, so the file passes untouched.
 */
export type JsonFormat = "gateway" | "opaque";

/** A JSON file, read. */
export interface JsonFile {
  readonly value: JsonValue;
  readonly format: JsonFormat;
}

/** Reads a JSON text and its format. Throws DeclaredError `json`. */
export function readJson(text: string): JsonFile {
  const value = parseJson(text);
  return { value, format: writeJson(value) === text ? "gateway" : "opaque" };
}

/** The format of a JSON text. Throws DeclaredError `json`. */
export function jsonFormat(text: string): JsonFormat {
  return readJson(text).format;
}

/** Reads a file's JSON; a text with what is wrong if it is none. */
export function readJsonFile(content: Content): JsonFile | string {
  const text = content.text();
  if (text === undefined) return "not UTF-8; save it as UTF-8";
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof DeclaredError) return error.message;
    throw error;
  }
}
