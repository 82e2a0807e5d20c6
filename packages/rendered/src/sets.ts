import { type Canonical, isCanonicalSet, type SetKind, sealSet, setDigest } from "./brand.ts";
import { isCanonicalIpv4, normalizeCidr } from "./normalize-cidr.ts";
import { recallSet, rememberSet } from "./recent-sets.ts";
import { compareText, isAscii, sortTexts, wellFormed } from "./text-order.ts";

/** Up to this many edits of a set are made one by one, by moving memory. */
const FEW_EDITS = 16;

/** What the texts of a set have to be. */
interface SetForm {
  readonly kind: SetKind;
  readonly normalize: (text: string) => string;
  /** True only for ASCII texts in their normal form: a quick look at what is usual. */
  readonly isPlain: (text: string) => boolean;
}

const PEERS: SetForm = { kind: "peers", normalize: normalizeCidr, isPlain: isCanonicalIpv4 };
const ENDPOINTS: SetForm = { kind: "endpoints", normalize: wellFormed, isPlain: isAscii };

/**
 * Canonical set of peers: each text normalised, in byte order, once. A canonical set comes back
 * as it is; any other list is copied, after one pass when it is in canonical form already. Equal
 * lists often give the same set, but only a caller that keeps a set can rely on that.
 */
export function peerSet(texts: readonly string[]): Canonical<string[]> {
  return isCanonicalSet(texts, "peers") ? texts : makeSet(texts, PEERS);
}

/** Canonical set of endpoints: in byte order, each once. Copies as `peerSet` does. */
export function endpointSet(texts: readonly string[]): Canonical<string[]> {
  return isCanonicalSet(texts, "endpoints") ? texts : makeSet(texts, ENDPOINTS);
}

/** True if two canonical sets of one kind hold the same texts. */
export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  const digest = setDigest(a);
  if (digest !== undefined) {
    const other = setDigest(b);
    if (other !== undefined) return digest === other;
  }
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Texts of both sets. Gives `set` itself if it has them all. */
export function union(
  set: Canonical<string[]>,
  more: Canonical<string[]>,
  kind: SetKind,
): Canonical<string[]> {
  const missing = more.length === 0 ? [] : difference(more, set);
  if (missing.length === 0) return set;
  if (missing.length > FEW_EDITS) return sealSet(merge(set, missing), kind);
  const out = set.slice();
  let at = 0;
  for (const text of missing) {
    at = lowerBound(out, text, at);
    out.splice(at, 0, text);
  }
  return sealSet(out, kind);
}

/** Texts of `set` that `gone` does not have. Gives `set` itself if it has none of them. */
export function without(
  set: Canonical<string[]>,
  gone: Canonical<string[]>,
  kind: SetKind,
): Canonical<string[]> {
  if (gone.length > FEW_EDITS) {
    const left = difference(set, gone);
    return left.length === set.length ? set : sealSet(left, kind);
  }
  let out: string[] | undefined;
  let at = 0;
  for (const text of gone) {
    const present: readonly string[] = out ?? set;
    at = lowerBound(present, text, at);
    if (present[at] !== text) continue;
    out ??= set.slice();
    out.splice(at, 1);
  }
  return out === undefined ? set : sealSet(out, kind);
}

function makeSet(texts: readonly string[], form: SetForm): Canonical<string[]> {
  const inOrder = isInOrder(texts, form);
  const canonical = inOrder ? texts : unique(sortTexts(texts.map(form.normalize)));
  const known = recallSet(canonical, form.kind);
  return known ?? rememberSet(sealSet(canonical.slice(), form.kind));
}

function unique(sorted: readonly string[]): string[] {
  return sorted.filter((text, i) => i === 0 || text !== sorted[i - 1]);
}

function isInOrder(texts: readonly string[], form: SetForm): boolean {
  let previous: string | undefined;
  for (const text of texts) {
    if (form.isPlain(text)) {
      // Against an ASCII text the built-in order is the byte order.
      if (previous !== undefined && !(previous < text)) return false;
    } else {
      if (form.normalize(text) !== text) return false;
      if (previous !== undefined && compareText(previous, text) >= 0) return false;
    }
    previous = text;
  }
  return true;
}

/** Texts of one sorted list that another does not have. */
function difference(texts: readonly string[], others: readonly string[]): string[] {
  const out: string[] = [];
  let at = 0;
  for (const text of texts) {
    at = lowerBound(others, text, at);
    if (others[at] !== text) out.push(text);
  }
  return out;
}

/** Both of two sorted lists that share no text. */
function merge(texts: readonly string[], more: readonly string[]): string[] {
  const out: string[] = [];
  let at = 0;
  for (const text of more) {
    const end = lowerBound(texts, text, at);
    for (; at < end; at++) out.push(texts[at] ?? "");
    out.push(text);
  }
  for (; at < texts.length; at++) out.push(texts[at] ?? "");
  return out;
}

/**
 * First index at or after `from` whose text is not below `text`. Looks near `from` first, so that
 * a run of k searches over n texts costs k log(n / k).
 */
function lowerBound(set: readonly string[], text: string, from: number): number {
  let low = from;
  let step = 1;
  while (low + step <= set.length && compareText(set[low + step - 1] ?? "", text) < 0) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step - 1, set.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareText(set[middle] ?? "", text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
