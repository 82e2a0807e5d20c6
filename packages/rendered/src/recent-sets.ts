import { type Canonical, isCanonicalSet, type SetKind } from "./brand.ts";

/** Shorter sets are compared as fast as they are looked up. */
const MIN_TEXTS = 8;
const SAMPLES = 8;
/** A power of two. */
const SLOTS = 4096;

/**
 * Sets that were recognised lately and are still in use somewhere, each in the slot of its hash. A
 * policy that comes from the wire takes over the sets that its predecessor holds, so that the two
 * share memory and are compared by reference. Bounded, holds nothing alive, and only saves work:
 * what is found is equal to what was asked for.
 */
const slots: (WeakRef<Canonical<string[]>> | undefined)[] = new Array(SLOTS).fill(undefined);

/** A set in use that holds exactly these texts, which must be in canonical form. */
export function recallSet(
  texts: readonly string[],
  kind: SetKind,
): Canonical<string[]> | undefined {
  if (texts.length < MIN_TEXTS) return undefined;
  const set = slots[slotOf(texts)]?.deref();
  if (set === undefined || !isCanonicalSet(set, kind) || set.length !== texts.length) {
    return undefined;
  }
  for (let i = 0; i < texts.length; i++) if (set[i] !== texts[i]) return undefined;
  return set;
}

/** Keeps a set where `recallSet` finds it until another one needs the slot. */
export function rememberSet(set: Canonical<string[]>): Canonical<string[]> {
  if (set.length >= MIN_TEXTS) slots[slotOf(set)] = new WeakRef(set);
  return set;
}

/** A hash over the length and a few texts: a set that differs elsewhere only takes the slot. */
function slotOf(texts: readonly string[]): number {
  let hash = texts.length;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const text = texts[Math.floor((sample * texts.length) / SAMPLES)] ?? "";
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}
