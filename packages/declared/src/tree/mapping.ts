import { isTagType, type Profile } from "../profile/profile.ts";
import { isRelPath } from "./path.ts";

/** Where a file of a gateway's folder belongs. */
export interface Place {
  /** Environment of an overlay; absent in the base. */
  readonly environment?: string;
  /** Path that the live side holds below a collection. */
  readonly path: string;
  /** True if a tag type stands below `resources/`. */
  readonly misplaced: boolean;
}

const OVERLAY = /^modes\/([^/]+)\/(.+)$/s;
const RESOURCE = /^resources\/([^/]+\/[^/]+)\/(.+)$/s;
const TAG = /^tags\/([^/]+)\/([^/]+)\/(.+)$/s;

/** Reads a path below `gateways/<gateway>/`; undefined if it fits no pattern. */
export function placeOf(profile: Profile, path: string): Place | undefined {
  if (!isRelPath(path)) return undefined;
  const overlay = OVERLAY.exec(path);
  const [, environment, inside = path] = overlay ?? [];
  const resource = RESOURCE.exec(inside);
  const mode = environment === undefined ? {} : { environment };
  if (resource !== null) {
    const [, type = "", rest = ""] = resource;
    return { ...mode, path: `${type}/${rest}`, misplaced: isTagType(profile, type) };
  }
  const [, provider = "", tagType = "", rest = ""] = TAG.exec(inside) ?? [];
  if (!profile.tagTypes.includes(tagType)) return undefined;
  return { ...mode, path: `${profile.tagModule}/${tagType}/${provider}/${rest}`, misplaced: false };
}

/** Path below a collection of a file of the base or of any overlay; undefined if it fits none. */
export function collectionPath(profile: Profile, path: string): string | undefined {
  return placeOf(profile, path)?.path;
}

/** Exact inverse of `collectionPath` for the base; undefined where a path has no type. */
export function repoPath(profile: Profile, path: string): string | undefined {
  const [module, type, name, ...rest] = path.split("/");
  if (module === undefined || type === undefined || name === undefined) return undefined;
  if (isTagType(profile, `${module}/${type}`) && rest.length > 0) {
    return `tags/${name}/${type}/${rest.join("/")}`;
  }
  return `resources/${path}`;
}

/** `module/type` of a collection path; undefined if it has fewer than three components. */
export function typeOf(path: string): string | undefined {
  const first = path.indexOf("/");
  const second = first < 0 ? -1 : path.indexOf("/", first + 1);
  return second < 0 ? undefined : path.slice(0, second);
}

/** Third component of a collection path, if there is a fourth: a resource's name or a provider. */
export function nameOf(path: string): string | undefined {
  const [, , name, rest] = path.split("/", 4);
  return rest === undefined ? undefined : name;
}
