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
  };
  const reason = code === undefined ? undefined : (known[code] ?? code);
  const message = error instanceof Error ? error.message : String(error);
  return new DeclaredError("transport", `${path}: ${reason ?? message}`);
}
