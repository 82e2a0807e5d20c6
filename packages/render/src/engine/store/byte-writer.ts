const INITIAL_BYTES = 64 * 1024;
/** Views of up to this many bytes are made once. */
const KEPT_VIEW_BYTES = 4 * 1024;
/** A larger buffer is let go after use. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** Most bytes of a tag and a 32-bit varint. */
const NUMBER_BYTES = 12;

const utf8 = new TextEncoder();

/** Writes protobuf fields into one buffer that is used again and again. */
export class ByteWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #at = 0;
  /** Views of the buffer's beginning by length: making one costs more than hashing a small message. */
  #views: (Uint8Array<ArrayBuffer> | undefined)[] = [];

  /** One byte outside any field. */
  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = value;
  }

  /** A number field of 32 bits; zero is written too. */
  number(tag: number, value: number): void {
    this.#reserve(NUMBER_BYTES);
    this.#varint(tag);
    this.#varint(value);
  }

  /** A text field; an empty one is written too. */
  text(tag: number, text: string): void {
    const units = text.length;
    this.#reserve(NUMBER_BYTES + 3 * units);
    const bytes = this.#bytes;
    if (units < 0x80) {
      let at = this.#at;
      bytes[at++] = tag;
      bytes[at++] = units;
      let index = 0;
      for (; index < units; index++) {
        const unit = text.charCodeAt(index);
        if (unit >= 0x80) {
          break;
        }
        bytes[at++] = unit;
      }
      if (index === units) {
        this.#at = at;
        return;
      }
    }
    const encoded = utf8.encode(text.toWellFormed());
    this.#varint(tag);
    this.#varint(encoded.length);
    this.#bytes.set(encoded, this.#at);
    this.#at += encoded.length;
  }

  /** A text field of two texts after each other, without putting them together. */
  texts(tag: number, first: string, second: string): void {
    const units = first.length + second.length;
    this.#reserve(NUMBER_BYTES + 3 * units);
    const start = this.#at;
    if (units < 0x80) {
      this.#bytes[this.#at++] = tag;
      this.#bytes[this.#at++] = units;
      if (this.#ascii(first) && this.#ascii(second)) {
        return;
      }
    }
    this.#at = start;
    this.text(tag, first + second);
  }

  /** Units of a text as bytes; false if one is not ASCII. */
  #ascii(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) {
        return false;
      }
      bytes[at++] = unit;
    }
    this.#at = at;
    return true;
  }

  /** A text field from `source`: at `start` its length, below 128, then its bytes. */
  shortText(tag: number, source: Uint8Array, start: number): void {
    const length = source[start] ?? 0;
    this.#reserve(2 + length);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = tag;
    for (let index = 0; index <= length; index++) {
      bytes[at++] = source[start + index] ?? 0;
    }
    this.#at = at;
  }

  /** A bytes field; each unit of the text is one byte. */
  binary(tag: number, latin1: string): void {
    const { length } = latin1;
    this.#reserve(NUMBER_BYTES + length);
    this.#varint(tag);
    this.#varint(length);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = 0; index < length; index++) {
      bytes[at++] = latin1.charCodeAt(index);
    }
    this.#at = at;
  }

  /** Bytes that are fields already. */
  fields(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.#at;
  }

  /** A copy of what was written from one place to another; small ones share memory. */
  copyFrom(start: number, end = this.#at): Uint8Array<ArrayBuffer> {
    const copy = Buffer.allocUnsafe(end - start);
    copy.set(this.#bytes.subarray(start, end));
    return copy;
  }

  /** Begins a message field. What is written until `end` is its content. */
  begin(tag: number): number {
    this.#reserve(NUMBER_BYTES);
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
  view(): Uint8Array<ArrayBuffer> {
    if (this.#at > KEPT_VIEW_BYTES) {
      return this.#bytes.subarray(0, this.#at);
    }
    const view = this.#views[this.#at] ?? this.#bytes.subarray(0, this.#at);
    this.#views[this.#at] = view;
    return view;
  }

  /** The bytes written so far, as memory of their own. Begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#at);
    this.reset();
    return taken;
  }

  /** `take` for bytes that live shortly: small ones share memory, which costs no allocation each. */
  takeBriefly(): Uint8Array<ArrayBuffer> {
    const taken = Buffer.allocUnsafe(this.#at);
    taken.set(this.view());
    this.reset();
    return taken;
  }

  /** Forgets what was written. */
  reset(): void {
    this.#at = 0;
    if (this.#bytes.length > KEPT_BYTES) {
      this.#bytes = new Uint8Array(INITIAL_BYTES);
      this.#views = [];
    }
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.#at + more;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#at));
      this.#bytes = larger;
      this.#views = [];
    }
  }
}

/** Bytes of a number as a varint. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) {
    bytes += 1;
  }
  return bytes;
}

/** Bytes of a text field of this tag, which takes one byte. */
export function textFieldBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  return 1 + varintBytes(bytes) + bytes;
}
