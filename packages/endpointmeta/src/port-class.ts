import { PortClass } from "@ringwall/wire";

/** Classes that this build knows, in the order in which ties of an election are broken. */
export const KNOWN_CLASSES: readonly PortClass[] = [PortClass.HTTP, PortClass.TCP, PortClass.UDP];

const NAMES: Readonly<Record<number, string>> = {
  [PortClass.UNSPECIFIED]: "UNSPECIFIED",
  [PortClass.HTTP]: "HTTP",
  [PortClass.TCP]: "TCP",
  [PortClass.UDP]: "UDP",
};

/** True for HTTP, TCP and UDP. UNSPECIFIED and classes of a later build are not known. */
export function isKnownClass(portClass: number | undefined): boolean {
  return KNOWN_CLASSES.some((known) => known === portClass);
}

/** Name of a class for people; the number as text if this build does not know it. */
export function portClassName(portClass: number): string {
  return NAMES[portClass] ?? String(portClass);
}

/**
 * Class of a service port from the votes of its endpoints, counted by class number: the known class
 * with the most votes; ties go to HTTP, then TCP, then UDP. Counts that are not positive and classes
 * that this build does not know do not stand; without any vote it is UNSPECIFIED.
 */
export function electPortClass(votes: Readonly<Record<number, number>> | undefined): PortClass {
  let elected: PortClass = PortClass.UNSPECIFIED;
  let most = 0;
  for (const candidate of KNOWN_CLASSES) {
    const count = votes?.[candidate] ?? 0;
    if (count > most) {
      elected = candidate;
      most = count;
    }
  }
  return elected;
}
