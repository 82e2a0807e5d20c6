import { type Canonical, isCanonicalSet, type SetKind, sealSet, setDigest } from "./brand.ts";
import { normalizeCidr } from "./normalize-cidr.ts";
import { compareText, wellFormed } from "./text-order.ts";

/**
 * Canonical set of peers: each text normalised, in byte order, once. A canonical set comes back
 * as it is; any other list is copied, after one pass when it is in canonical form already.
 */
export function peerSet(texts: readonly string[]): Canonical<string[]> {
  return isCanonicalSet(texts, "peers") ? texts : makeSet(texts, normalizeCidr, "peers");
}

/** Canonical set of endpoints: in byte order, each once. Copies as `peerSet` does. */
export function endpointSet(texts: readonly string[]): Canonical<string[]> {
  return isCanonicalSet(texts, "endpoints") ? texts : makeSet(texts, wellFormed, "endpoints");
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
export function union(set: Canonical<string[]>, more: Canonical<string[]>, kind: SetKind) {
  const out: string[] = [];
  let copied = 0;
  let at = 0;
  for (const text of more) {
    at = lowerBound(set, text, at);
    if (set[at] === text) continue;
    for (; copied < at; copied++) out.push(set[copied] ?? "");
    out.push(text);
  }
  if (out.length === 0) return set;
  for (; copied < set.length; copied++) out.push(set[copied] ?? "");
  return sealSet(out, kind);
}

/** Texts of `set` that `gone` does not have. Gives `set` itself if it has none of them. */
export function without(set: Canonical<string[]>, gone: Canonical<string[]>, kind: SetKind) {
  const out: string[] = [];
  let copied = 0;
  let at = 0;
  for (const text of gone) {
    at = lowerBound(set, text, at);
    if (set[at] !== text) continue;
    for (; copied < at; copied++) out.push(set[copied] ?? "");
    copied = at + 1;
  }
  if (copied === 0) return set;
  for (; copied < set.length; copied++) out.push(set[copied] ?? "");
  return sealSet(out, kind);
}

function makeSet(
  texts: readonly string[],
  normalize: (text: string) => string,
  kind: SetKind,
): Canonical<string[]> {
  if (isInOrder(texts, normalize)) return sealSet(texts.slice(), kind);
  const sorted = texts.map(normalize).sort(compareText);
  return sealSet(
    sorted.filter((text, i) => i === 0 || text !== sorted[i - 1]),
    kind,
  );
}

function isInOrder(texts: readonly string[], normalize: (text: string) => string): boolean {
  let previous: string | undefined;
  for (const text of texts) {
    if (normalize(text) !== text) return false;
    if (previous !== undefined && compareText(previous, text) >= 0) return false;
    previous = text;
  }
  return true;
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
