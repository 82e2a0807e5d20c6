import { INPUT_FILE_LIMIT_BYTES, tooLarge } from "./read-input.ts";

/** Reads all of stdin, at most 16 MiB. */
export async function readStandardInput(): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > INPUT_FILE_LIMIT_BYTES) throw tooLarge("stdin");
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
