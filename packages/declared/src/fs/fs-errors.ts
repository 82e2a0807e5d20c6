import { DeclaredError } from "../errors.ts";

/** Reads the `code` of a system error such as `EACCES`; undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Turns a system error into a DeclaredError `transport` that names the file. */
export function transportError(path: string, error: unknown): DeclaredError {
  if (error instanceof DeclaredError) return error;
  const code = systemCode(error);
  const known: Readonly<Record<string, string>> = {
    EACCES: "no permission",
    EPERM: "no permission",
    ELOOP: "is a symbolic link, which is not followed; put the file itself there",
    ENOENT: "is gone; it changed while it was read",
    ENOSPC: "no space left",
    EXDEV: "is on another file system",
    ENOTDIR: "a part of the path is a file and no folder",
    EISDIR: "is a folder",
    EROFS: "the file system is read-only",
  };
  const reason = code === undefined ? undefined : (known[code] ?? code);
  const message = error instanceof Error ? error.message : String(error);
  return new DeclaredError("transport", `${path}: ${reason ?? message}`);
}

/**
 * The same for a write, where ENOENT has another meaning: it is also what making a folder on a
 * read-only file system ends with.
 */
export function writeError(path: string, error: unknown): DeclaredError {
  if (systemCode(error) !== "ENOENT") return transportError(path, error);
  const why = "the folder above it is gone, or the file system is read-only";
  return new DeclaredError("transport", `${path}: can't be written: ${why}`);
}
