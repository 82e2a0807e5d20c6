/**
 * The runtime side of `Canonical`: a private field put on the value itself. It can't be forged
 * or lost, no codec, comparison or copy sees it, and a test for it costs about a nanosecond. A
 * WeakSet would do the same, but with one weak entry for each of the hundred thousand bodies that
 * a renderer holds, which every garbage collection has to walk.
 */

declare const canonicalBrand: unique symbol;

/**
 * A value in canonical form. It never changes: canonical values share their parts, and digests and
 * differences are remembered with them. Messages are frozen; arrays are not, because V8 reads
 * frozen ones at half the speed, so treat them as read-only.
 */
export type Canonical<T> = T & { readonly [canonicalBrand]: true };

/** What a canonical list of texts holds. */
export type SetKind = "peers" | "endpoints";

/** Hands its argument back, so that a subclass puts its private fields on that object. */
class Given {
  constructor(target: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this is how a field gets onto a given object
    return target;
  }
}

class MessageMark extends Given {
  #digest: string | undefined;

  static has(target: object): boolean {
    return #digest in target;
  }

  static digest(target: object): string | undefined {
    return #digest in target ? target.#digest : undefined;
  }

  static remember(target: object, digest: string): void {
    if (#digest in target) target.#digest = digest;
  }
}

class SetMark extends Given {
  readonly #kind: SetKind;
  #digest: string | undefined;

  constructor(target: object, kind: SetKind) {
    super(target);
    this.#kind = kind;
  }

  static has(target: object, kind: SetKind): boolean {
    return #kind in target && target.#kind === kind;
  }

  static digest(target: object): string | undefined {
    return #kind in target ? target.#digest : undefined;
  }

  static remember(target: object, digest: string): void {
    if (#kind in target) target.#digest = digest;
  }
}

/** Declares a message canonical and freezes it. Its parts must be canonical. */
export function sealMessage<T extends object>(message: T): Canonical<T> {
  new MessageMark(message);
  // The mark just put on it is what the type says.
  return Object.freeze(message) as Canonical<T>;
}

/** Declares a list canonical: sorted, unique, each text normalised as its kind asks. */
export function sealSet(texts: string[], kind: SetKind): Canonical<string[]> {
  new SetMark(texts, kind);
  // The mark just put on it is what the type says.
  return texts as Canonical<string[]>;
}

/** True if the very object was declared canonical. */
export function isCanonicalMessage<T extends object>(message: T): message is Canonical<T> {
  return MessageMark.has(message);
}

/** True if the very list was declared a canonical set of this kind. */
export function isCanonicalSet(
  texts: readonly string[],
  kind: SetKind,
): texts is Canonical<string[]> {
  return SetMark.has(texts, kind);
}

/** The digest remembered with a canonical policy, if it was computed. */
export const messageDigest = (message: object): string | undefined => MessageMark.digest(message);

/** Remembers the digest of a canonical policy. */
export const rememberMessageDigest = (message: object, digest: string): void =>
  MessageMark.remember(message, digest);

/** The digest remembered with a canonical set, if it was computed. */
export const setDigest = (texts: readonly string[]): string | undefined => SetMark.digest(texts);

/** Remembers the digest of a canonical set. */
export const rememberSetDigest = (texts: readonly string[], digest: string): void =>
  SetMark.remember(texts, digest);
