import { isLabelKey, isLabelValue } from "@ringwall/labels";
import { LIMITS } from "../limits.ts";
import type { SelectorSpec } from "../model.ts";
import type { Note } from "./note.ts";

const KEY = "1 to 63 of [A-Za-z0-9._/-], letter or digit at both ends";
const VALUE = "1 to 63 of [A-Za-z0-9._-], letter or digit at both ends";

/** Checks a selector that must select something. */
export function checkSelector(selector: SelectorSpec | undefined, path: string, note: Note): void {
  const entries = Object.entries(selector ?? {});
  if (entries.length === 0) {
    note(path, "selector-empty", "an empty selector matches nothing; name at least one label");
  }
  for (const [key, values] of entries) {
    const at = `${path}[${key}]`;
    checkKey(key, at, note);
    if (values.length === 0) {
      note(at, "label-values-required", `label "${key}" has no value; give at least one`);
    }
    for (const value of values) {
      checkValue(value, at, note);
    }
  }
}

/** Checks the labels of a workload. */
export function checkLabels(
  labels: Readonly<Record<string, string>>,
  path: string,
  note: Note,
): void {
  const entries = Object.entries(labels);
  if (entries.length > LIMITS.labelsPerWorkload) {
    const message = `${entries.length} labels, allowed are ${LIMITS.labelsPerWorkload}`;
    note(path, "limit", message);
  }
  for (const [key, value] of entries) {
    checkKey(key, `${path}[${key}]`, note);
    checkValue(value, `${path}[${key}]`, note);
  }
}

/** Checks the name of a document, which is also a folder of the tree. */
export function checkName(name: string, path: string, note: Note): void {
  if (name === "") {
    note(path, "name-required", "a name is missing");
  } else if (!isLabelValue(name)) {
    note(path, "name", `name "${name}" is not allowed: ${VALUE}`);
  }
}

function checkKey(key: string, path: string, note: Note): void {
  if (key === "") {
    note(path, "label-key-required", "a label key is empty");
  } else if (!isLabelKey(key)) {
    note(path, "label-key", `label key "${key}" is not allowed: ${KEY}`);
  }
}

function checkValue(value: string, path: string, note: Note): void {
  if (!isLabelValue(value)) {
    note(path, "label-value", `label value "${value}" is not allowed: ${VALUE}`);
  }
}
