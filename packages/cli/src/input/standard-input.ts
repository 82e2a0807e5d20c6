import { INPUT_FILE_LIMIT_BYTES, tooLarge } from "./read-input.ts";

/** Reads all of stdin, by default at most 16 MiB. Throws CliError `invalid` beyond the limit. */
export async function readStandardInput(limitBytes = INPUT_FILE_LIMIT_BYTES): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > limitBytes) throw tooLarge("stdin", limitBytes);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
