import type { Moment } from "@ringwall/actor";

/** A number that names one Hello: 64 random bits. */
export function nonce(moment: Moment): bigint {
  const high = BigInt(Math.floor(moment.random() * 0x1_0000_0000));
  const low = BigInt(Math.floor(moment.random() * 0x1_0000_0000));
  return (high << 32n) | low;
}
