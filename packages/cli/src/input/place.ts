import { posix, resolve, sep } from "node:path";
import type { LayerName } from "./find-files.ts";

/** What a file's place in a declared repo says about it. */
export interface Place {
  readonly layer: LayerName;
  /** Path in the layer. */
  readonly path?: string | undefined;
  /** Environment of an overlay. */
  readonly environment?: string;
}

const IN_REPO = /\/gateways\/[^/]+\/(?:modes\/([^/]+)\/)?resources\/(.+)$/;

/**
 * Layer and path of a file below `gateways/<gateway>/[modes/<environment>/]resources/`, so that
 * applying a single file of a declared repo puts it where applying the whole repo does. Undefined
 * for a file that stands elsewhere.
 */
export function placeOf(file: string): Place | undefined {
  const found = IN_REPO.exec(resolve(file).split(sep).join(posix.sep));
  if (found === null) return undefined;
  const [, environment, path] = found;
  return environment === undefined
    ? { layer: "core", path }
    : { layer: "environment", path, environment };
}
