/** Longest path of a file of the live tree, in bytes of UTF-8. */
const PATH_BYTES = 4_096;

/** Why a path can't name a file of the live tree, or undefined if it can. */
export function pathProblem(path: string): string | undefined {
  if (path === "") {
    return "the path is empty";
  }
  if (path.startsWith("/")) {
    return "the path begins with /; paths are relative to their layer";
  }
  if (path.includes("\\") || path.includes("\0")) {
    return "the path holds a backslash or NUL; components are separated by /";
  }
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    return "the path has an empty, . or .. component";
  }
  const bytes = Buffer.byteLength(path);
  return bytes > PATH_BYTES ? `the path has ${bytes} bytes, allowed are ${PATH_BYTES}` : undefined;
}
