import { open } from "node:fs/promises";
import { CliError, messageOf, systemCode } from "../errors.ts";

/** Largest input file in bytes: what one commit can carry. */
export const INPUT_FILE_LIMIT_BYTES = 16 * 1024 * 1024;

const TAKE_BYTES = 256 * 1024;

/** What a file that can't be read ends a command with. */
export function readProblem(file: string, error: unknown): CliError {
  switch (systemCode(error)) {
    case "ENOENT":
      return new CliError("usage", `${file}: no such file or directory`);
    case "EACCES":
    case "EPERM":
      return new CliError("denied", `${file}: no permission to read it`);
    default:
      return new CliError("usage", `${file}: can't be read: ${messageOf(error)}`);
  }
}

/**
 * Reads a file, a pipe or a device, by default at most 16 MiB of it. What is read is counted, since
 * a pipe and a device have no size that could be asked for. Throws CliError `invalid` beyond it.
 */
export async function readInput(
  file: string,
  limitBytes = INPUT_FILE_LIMIT_BYTES,
): Promise<Uint8Array> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size > limitBytes) throw tooLarge(file, limitBytes, size);
    const parts: Buffer[] = [];
    let total = 0;
    for (;;) {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(TAKE_BYTES) });
      if (bytesRead === 0) return Buffer.concat(parts);
      total += bytesRead;
      if (total > limitBytes) throw tooLarge(file, limitBytes);
      parts.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    throw error instanceof CliError ? error : readProblem(file, error);
  }
}

/** The refusal of an input that is too large; `size` in bytes, absent where it is not known. */
export function tooLarge(file: string, limitBytes: number, size?: number): CliError {
  const has = size === undefined ? "too many bytes" : `${size} bytes`;
  const message = `${file} has ${has}, at most ${limitBytes} are allowed; split it`;
  return new CliError("invalid", message);
}
