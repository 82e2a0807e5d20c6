import type { Findings } from "../finding.ts";
import { LIMITS } from "../limits.ts";

/** Operating system of the machine that the files end up on. */
export type Os = "linux" | "windows";

// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows allows none of them in a name
const ILLEGAL = /[<>:"|?*\u0000-\u001f]/;
const RESERVED = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\.|$)/i;

/** Why Windows has no file of this name, or undefined if it can. */
function nameProblem(name: string): string | undefined {
  const illegal = ILLEGAL.exec(name)?.[0];
  if (illegal !== undefined) return `the character ${JSON.stringify(illegal)} in a name`;
  if (RESERVED.test(name)) return `the name "${name}", which is a device`;
  if (name.endsWith(".") || name.endsWith(" ")) return "a name that ends in a dot or a space";
  return undefined;
}

/** What the lint of names needs of a file. */
export interface NamedFile {
  /** Path in the collection. */
  readonly path: string;
  /** Path that findings name. */
  readonly source: string;
}

/**
 * Notes names that Windows can't have: illegal ones, twins that differ in case only, and paths above
 * the budget, which counts UTF-16 units of the path in the collection.
 */
export function lintWindowsNames(
  files: readonly NamedFile[],
  budget: number,
  findings: Findings,
): void {
  const twins = caseTwins(files);
  for (const { path, source } of files) {
    const parts = path.split("/");
    const problem = parts.map(nameProblem).find((each) => each !== undefined);
    if (problem !== undefined) {
      findings.add(source, "name-illegal", `Windows does not allow ${problem}; rename it`);
    }
    if (path.length > budget) {
      findings.add(
        source,
        "path-budget",
        `the path has ${path.length} UTF-16 units, at most ${budget} are allowed; shorten it`,
      );
    }
    const twin = prefixes(parts).find((prefix) => twins.has(prefix));
    if (twin !== undefined) {
      const message = `"${twin}" differs from another name in case only; Windows has one of them`;
      findings.add(source, "case-collision", message);
    }
  }
}

/** Paths of files and folders that have another spelling beside them. */
function caseTwins(files: readonly NamedFile[]): ReadonlySet<string> {
  const spellings = new Map<string, string>();
  const seen = new Set<string>();
  const twins = new Set<string>();
  for (const { path } of files) {
    for (const prefix of prefixes(path.split("/")).reverse()) {
      if (seen.has(prefix)) break;
      seen.add(prefix);
      const folded = foldCase(prefix);
      const other = spellings.get(folded);
      if (other === undefined) spellings.set(folded, prefix);
      else {
        twins.add(other);
        twins.add(prefix);
      }
    }
  }
  return twins;
}

function prefixes(parts: readonly string[]): string[] {
  let prefix = "";
  return parts.map((part) => {
    prefix = prefix === "" ? part : `${prefix}/${part}`;
    return prefix;
  });
}

/** Upper case, one code point by one, as the file systems of Windows compare names. */
export function foldCase(text: string): string {
  const upper = text.toUpperCase();
  if (upper.length === text.length) return upper;
  return [...text]
    .map((character) => {
      const raised = character.toUpperCase();
      return raised.length === character.length ? raised : character;
    })
    .join("");
}

/** Budget of a path in a collection when the target does not say one. */
export function defaultPathBudget(windowsFolder: string, collection: string): number {
  return LIMITS.windowsPath - windowsFolder.length - collection.length - 2;
}
