import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";

/**
 * The bytes of one file. They may be a secret, so nothing that prints an object shows them: they are
 * a private field, and neither text nor JSON is made of them.
 */
export class Content {
  readonly #bytes: Uint8Array;
  #sha256: string | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The bytes of a text in UTF-8. */
  static ofText(text: string): Content {
    return new Content(Buffer.from(text, "utf8"));
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** SHA-256 in lower-case hex, computed once. */
  get sha256(): string {
    this.#sha256 ??= hash("sha256", this.#bytes, "hex");
    return this.#sha256;
  }

  /** The text, a byte order mark included, or undefined if the bytes are not UTF-8. */
  text(): string | undefined {
    if (!isUtf8(this.#bytes)) return undefined;
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength).toString(
      "utf8",
    );
  }

  /** True if the bytes are the same. */
  equals(other: Content): boolean {
    if (this === other) return true;
    return (
      this.#bytes.length === other.#bytes.length && Buffer.compare(this.#bytes, other.#bytes) === 0
    );
  }

  /** Only the size. */
  toJSON(): { readonly bytes: number } {
    return { bytes: this.#bytes.length };
  }
}
