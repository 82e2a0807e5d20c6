import type { FieldReader } from "./strict-yaml.ts";

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const LONGEST_NAME = 255;

/** The number 1, the only version there is. */
export const versionOne: FieldReader<1> = (value) =>
  value === 1 ? { value: 1 } : "must be 1; another version needs another build";

/** A text of one line. */
export const label: FieldReader<string> = (value) =>
  typeof value === "string" && value !== "" && !/[\r\n]/.test(value)
    ? { value }
    : "must be a text of one line";

/** A name that can be a folder's. */
export const folderName: FieldReader<string> = (value) =>
  typeof value === "string" && NAME.test(value) && value.length <= LONGEST_NAME
    ? { value }
    : "must be a name of letters, digits, _, . and -";

/** One of some words. */
export function word<Word extends string>(words: readonly Word[]): FieldReader<Word> {
  return (value) => {
    const found = words.find((each) => each === value);
    return found === undefined ? `must be ${words.join(" or ")}` : { value: found };
  };
}

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number): FieldReader<number> {
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most
      ? { value }
      : `must be a whole number from ${least} to ${most}`;
}

/** A list of different texts, each of a form that `problem` does not object to. */
export function texts(problem: (text: string) => string | undefined): FieldReader<string[]> {
  return (value) => {
    if (!Array.isArray(value)) return "must be a list";
    const seen = new Set<string>();
    for (const each of value) {
      if (typeof each !== "string") return "every element must be a text";
      const wrong = problem(each);
      if (wrong !== undefined) return wrong;
      if (seen.has(each)) return `"${each}" comes twice`;
      seen.add(each);
    }
    return { value: [...seen] };
  };
}
