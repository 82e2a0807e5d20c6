import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes `<path>.tmp` and syncs it; nothing else is touched. */
export async function prepareFile(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(`${path}.tmp`, "w", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Puts a prepared file in place. With `keepAs` the present file stays under that name; at every
 * moment `path` is either the former or the new file, whole.
 */
export async function commitFile(path: string, keepAs?: string): Promise<void> {
  if (keepAs !== undefined) {
    await keep(path, keepAs);
  }
  await rename(`${path}.tmp`, path);
  await syncDirectory(dirname(path));
}

/** Replaces a file: temporary file, sync, rename, sync of the directory. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  await prepareFile(path, bytes);
  await commitFile(path);
}

async function keep(path: string, keepAs: string): Promise<void> {
  const temporary = `${keepAs}.tmp`;
  await rm(temporary, { force: true });
  try {
    await link(path, temporary);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") {
      return;
    }
    throw thrown;
  }
  await rename(temporary, keepAs);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
