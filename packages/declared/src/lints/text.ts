import type { Content } from "../tree/content.ts";

const CARRIAGE_RETURN = 0x0d;
const NUL = 0;

/** True if a text file holds a carriage return; bytes that are no text may hold any. */
export function hasCarriageReturn(content: Content): boolean {
  const { bytes } = content;
  return bytes.includes(CARRIAGE_RETURN) && isText(content);
}

/** True for UTF-8 without NUL. */
export function isText(content: Content): boolean {
  return !content.bytes.includes(NUL) && content.text() !== undefined;
}
