import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** A field of an API object, as the client's types declare it. */
export interface ApiField {
  readonly required: boolean;
  readonly type: string;
}

const client = createRequire(import.meta.url).resolve("@kubernetes/client-node");
const MODELS = join(dirname(client), "gen", "models");
// A map's type goes over several lines.
const FIELD = /^ {4}'([^']+)'(\?)?: (\{[^}]*\}|[^;{]+);$/gm;
const known = new Map<string, ReadonlyMap<string, ApiField> | undefined>();

/** Fields of a type of the Kubernetes API by name; undefined if there is no such type. */
export function fieldsOf(type: string): ReadonlyMap<string, ApiField> | undefined {
  if (!known.has(type)) {
    const file = join(MODELS, `${type}.d.ts`);
    known.set(type, existsSync(file) ? readFields(readFileSync(file, "utf8")) : undefined);
  }
  return known.get(type);
}

function readFields(declaration: string): ReadonlyMap<string, ApiField> {
  const fields = new Map<string, ApiField>();
  for (const [, name = "", optional, type = ""] of declaration.matchAll(FIELD)) {
    // The generator avoids JavaScript's reserved words with an underscore.
    fields.set(name.replace(/^_/, ""), { required: optional === undefined, type });
  }
  return fields;
}
