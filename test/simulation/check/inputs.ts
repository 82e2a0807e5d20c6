import type { Inputs } from "@ringwall/wire";

/** True if inputs are below others: by generation first, then in any component. */
export function isBelow(a: Inputs | undefined, b: Inputs): boolean {
  if (a === undefined || a.generation !== b.generation) {
    return (a?.generation ?? 0n) < b.generation;
  }
  return a.configSequence < b.configSequence || a.registryRevision < b.registryRevision;
}

/** Inputs, for people. */
export function inputsText(inputs: Inputs | undefined): string {
  return inputs === undefined
    ? "none"
    : `${inputs.generation}/${inputs.configSequence}/${inputs.registryRevision}`;
}
