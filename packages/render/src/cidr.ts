import { normalizeCidr } from "@ringwall/rendered";

const PREFIX_LENGTH = /^(0|[1-9]\d{0,2})$/;

/** True for an IPv4 or IPv6 prefix with its length; a bare address and a zone are not one. */
export function isCidr(text: string): boolean {
  const trimmed = text.trim();
  const slash = trimmed.indexOf("/");
  const address = trimmed.slice(0, slash);
  const length = trimmed.slice(slash + 1);
  if (slash < 0 || !PREFIX_LENGTH.test(length) || /[\s%]/.test(address)) {
    return false;
  }
  return isAddress(address) && Number(length) <= (address.includes(":") ? 128 : 32);
}

/** True for a bare IPv4 or IPv6 address without a zone. */
export function isAddress(text: string): boolean {
  // Only a bare address is turned into a host route; anything else comes back as it was.
  return !/[\s%/]/.test(text) && /\/(32|128)$/.test(normalizeCidr(text));
}

/** True if the prefix holds the whole of another one of its family; false for what is no prefix. */
export function containsCidr(outer: string, inner: string): boolean {
  const outerText = normalizeCidr(outer);
  const [outerAddress = "", outerLength = ""] = outerText.split("/");
  const [innerAddress = "", innerLength = ""] = normalizeCidr(inner).split("/");
  if (
    outerAddress.includes(":") !== innerAddress.includes(":") ||
    outerLength === "" ||
    Number(innerLength) < Number(outerLength)
  ) {
    return false;
  }
  // Cutting the inner address to the outer length gives the outer prefix exactly if it is inside.
  return normalizeCidr(`${innerAddress}/${outerLength}`) === outerText;
}
