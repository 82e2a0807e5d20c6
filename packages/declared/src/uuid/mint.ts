import { createHash } from "node:crypto";

/** What names a resource for ever. The environment is no part of it. */
export interface ResourceName {
  readonly gateway: string;
  readonly module: string;
  readonly type: string;
  readonly name: string;
}

/**
 * The uuid of a resource: the first 16 bytes of SHA-256 over `domain NUL gateway NUL
 * module/type/name`, with version 8 and the variant of RFC 9562.
 */
export function mintUuid(domain: string, { gateway, module, type, name }: ResourceName): string {
  const digest = createHash("sha256")
    .update(`${domain}\0${gateway}\0${module}/${type}/${name}`)
    .digest()
    .subarray(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString("hex");
  return [0, 8, 12, 16, 20]
    .map((start, index, starts) => hex.slice(start, starts[index + 1]))
    .join("-");
}
