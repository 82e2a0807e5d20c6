import type { JsonMember, JsonValue } from "../json/json-value.ts";
import { writeJson } from "../json/write-json.ts";
import { Content } from "../tree/content.ts";

const text = (value: string): JsonValue => ({ kind: "string", value });
const word = (value: "true" | "false"): JsonValue => ({ kind: "literal", word: value });

/**
 * A `resource.json` with the uuid as last member of `attributes`, which is made at the end if it is
 * missing; every other byte stays. The root must be an object in the gateway's own layout.
 */
export function withUuid(root: JsonValue, uuid: string): Content {
  const members = root.kind === "object" ? root.members : [];
  const has = members.some(({ key }) => key === "attributes");
  const all: readonly JsonMember[] = has
    ? members
    : [...members, { key: "attributes", value: { kind: "object", members: [] } }];
  const changed = all.map(({ key, value }): JsonMember => {
    if (key !== "attributes" || value.kind !== "object") return { key, value };
    const attributes = [...value.members, { key: "uuid", value: text(uuid) }];
    return { key, value: { kind: "object", members: attributes } };
  });
  return Content.ofText(writeJson({ kind: "object", members: changed }));
}

/** A `resource.json` for a resource that has none. `files` are its members in byte order. */
export function synthesised(files: readonly string[], uuid: string): Content {
  return Content.ofText(
    writeJson({
      kind: "object",
      members: [
        { key: "scope", value: text("A") },
        { key: "version", value: { kind: "number", lexeme: "1" } },
        { key: "restricted", value: word("false") },
        { key: "overridable", value: word("true") },
        { key: "files", value: { kind: "array", elements: files.map(text) } },
        {
          key: "attributes",
          value: { kind: "object", members: [{ key: "uuid", value: text(uuid) }] },
        },
      ],
    }),
  );
}
