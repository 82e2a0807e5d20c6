import { createHash } from "node:crypto";

/** Longest comment that nft takes, in bytes. */
const COMMENT_LIMIT = 128;
const HASH_LENGTH = 16;

/**
 * The comment that names something in the ruleset: its own text, or, where that is too long or could
 * end the comment, its printable beginning with a hash of the whole, so that two names never share
 * one.
 */
export function commentOf(name: string): string {
  if (name.length <= COMMENT_LIMIT && /^[A-Za-z0-9 ._/:@-]*$/.test(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  const beginning = name.replace(/[^A-Za-z0-9 ._/:@-]/g, "_");
  return `${beginning.slice(0, COMMENT_LIMIT - HASH_LENGTH - 1)}:${hash}`;
}
