/** Why a text is no acceptable relative path, or undefined if it is one. */
export function relPathProblem(path: string): string | undefined {
  if (path === "") return "the path is empty";
  if (path.startsWith("/")) return "the path begins with /";
  if (path.includes("\\")) return "the path holds a backslash; components are separated by /";
  if (path.includes("\0")) return "the path holds NUL";
  if (!path.isWellFormed()) return "the path is not UTF-8";
  for (const part of path.split("/")) {
    if (part === "" || part === "." || part === "..") {
      return `the path has the component "${part}"`;
    }
  }
  return undefined;
}

/** True if a text is an acceptable relative path: `/`-separated, without empty, `.` or `..`. */
export function isRelPath(path: string): boolean {
  return relPathProblem(path) === undefined;
}

/** The path without its last component; empty for a path of one component. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** The last component of a path. */
export function lastOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Compares texts as their UTF-8 bytes compare; -1, 0 or 1. */
export function compareBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return byteOrder(left) < byteOrder(right) ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

/** UTF-16 puts surrogates before U+E000 to U+FFFF, UTF-8 puts what they encode behind. */
function byteOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

const BEYOND_PLAIN_ORDER = /[\ud800-\uffff]/;

/** Sorts paths in place in byte order and gives them back. */
export function sortPaths(paths: string[]): string[] {
  const plain = !paths.some((path) => BEYOND_PLAIN_ORDER.test(path));
  return plain ? paths.sort() : paths.sort(compareBytes);
}
