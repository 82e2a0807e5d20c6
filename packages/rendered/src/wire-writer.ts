import { RenderedError } from "./errors.ts";

const INITIAL_BYTES = 64 * 1024;
/** A larger buffer is let go after use. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** Most bytes of a varint of 64 bits. */
const VARINT_BYTES = 10;
const U64_MAX = 0xffff_ffff_ffff_ffffn;

const utf8 = new TextEncoder();

/**
 * Writes protobuf wire format in one pass. Made for messages that are mostly short ASCII texts:
 * those are copied unit by unit, which is a few times faster than one encoder call for each.
 * `take` ends a message and makes the writer ready for the next one.
 */
export class WireWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #at = 0;

  /** One byte outside any field. */
  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = value;
  }

  /** An unsigned number of 32 bits; zero is written too. */
  uint32(tag: number, value: number): void {
    if (value >>> 0 !== value) throw outOfRange(value, "0 to 2^32 - 1");
    this.#reserve(2 * VARINT_BYTES);
    this.#varint(tag);
    this.#varint(value);
  }

  /** An enum's number; zero is written too. A negative one takes ten bytes. */
  int32(tag: number, value: number): void {
    if ((value | 0) !== value) throw outOfRange(value, "-2^31 to 2^31 - 1");
    if (value >= 0) this.uint32(tag, value);
    else this.#varint64(tag, BigInt.asUintN(64, BigInt(value)));
  }

  /** An unsigned number of 64 bits; zero is written too. */
  uint64(tag: number, value: bigint): void {
    if (value < 0n || value > U64_MAX) throw outOfRange(value, "0 to 2^64 - 1");
    this.#varint64(tag, value);
  }

  /** A text; an empty one is written too. */
  text(tag: number, text: string): void {
    const units = text.length;
    this.#reserve(2 * VARINT_BYTES + 3 * units);
    this.#varint(tag);
    const bytes = this.#bytes;
    if (units < 0x80) {
      const start = this.#at + 1;
      let i = 0;
      for (; i < units; i++) {
        const unit = text.charCodeAt(i);
        if (unit >= 0x80) break;
        bytes[start + i] = unit;
      }
      if (i === units) {
        bytes[start - 1] = units;
        this.#at = start + units;
        return;
      }
    }
    this.#encodedText(text);
  }

  /** A list of texts. */
  texts(tag: number, texts: readonly string[]): void {
    for (const text of texts) this.text(tag, text);
  }

  /** Bytes given as hex digits. */
  hex(tag: number, digits: string): void {
    const length = digits.length / 2;
    this.#reserve(2 * VARINT_BYTES + length);
    this.#varint(tag);
    this.#varint(length);
    for (let i = 0; i < length; i++) {
      const high = hexValue(digits.charCodeAt(2 * i));
      this.#bytes[this.#at++] = (high << 4) | hexValue(digits.charCodeAt(2 * i + 1));
    }
  }

  /** Begins a message field. What is written until `end` is its content. */
  begin(tag: number): number {
    this.#reserve(2 * VARINT_BYTES);
    this.#varint(tag);
    return this.#at++;
  }

  /** Ends the message field that `begin` gave this number for. */
  end(begun: number): void {
    const length = this.#at - begun - 1;
    const extra = varintBytes(length) - 1;
    if (extra > 0) {
      this.#reserve(extra);
      this.#bytes.copyWithin(begun + 1 + extra, begun + 1, this.#at);
    }
    this.#at = begun;
    this.#varint(length);
    this.#at += length;
  }

  /** The bytes written so far, as a view that the next write makes invalid. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** The bytes written so far, as memory of their own. Begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#at);
    this.reset();
    return taken;
  }

  /** Forgets what was written. */
  reset(): void {
    this.#at = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = new Uint8Array(INITIAL_BYTES);
  }

  #encodedText(text: string): void {
    const encoded = utf8.encode(text);
    this.#varint(encoded.length);
    this.#bytes.set(encoded, this.#at);
    this.#at += encoded.length;
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  #varint64(tag: number, value: bigint): void {
    this.#reserve(2 * VARINT_BYTES);
    this.#varint(tag);
    let rest = value;
    while (rest >= 0x80n) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  #reserve(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

function hexValue(unit: number): number {
  return unit <= 57 ? unit - 48 : unit - 87;
}

function outOfRange(value: number | bigint, allowed: string): RenderedError {
  return new RenderedError("malformed-policy", `number ${value} is out of range: ${allowed}`);
}
