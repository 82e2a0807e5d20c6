import { registerHooks } from "node:module";

/** A change of a source file as it is loaded: for this process only, nothing on disk changes. */
export interface SourcePatch {
  /** End of the file's path. */
  readonly file: string;
  /** Text that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Loads sources with changes from now on. Throws when a text is not found exactly once, so that a
 * patch never becomes void when the source changes.
 */
export function patchSources(patches: readonly SourcePatch[]): void {
  registerHooks({
    load: (url, context, nextLoad) => {
      const result = nextLoad(url, context);
      const mine = patches.filter(({ file }) => url.endsWith(file));
      if (mine.length === 0 || result.source === undefined || result.source === null) {
        return result;
      }
      let source =
        typeof result.source === "string"
          ? result.source
          : new TextDecoder().decode(result.source as Uint8Array);
      for (const { file, find, replace } of mine) {
        const parts = source.split(find);
        if (parts.length !== 2) {
          throw new Error(`"${find}" occurs ${parts.length - 1} times in ${file}, it must once`);
        }
        source = parts.join(replace);
      }
      return { ...result, source };
    },
  });
}
