import { CliError } from "../errors.ts";
import { INPUT_FILE_LIMIT_BYTES } from "./find-files.ts";

/** Reads all of stdin, at most 16 MiB. */
export async function readStandardInput(): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > INPUT_FILE_LIMIT_BYTES) {
      throw new CliError(
        "invalid",
        `stdin has more than ${INPUT_FILE_LIMIT_BYTES} bytes; split it`,
      );
    }
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
