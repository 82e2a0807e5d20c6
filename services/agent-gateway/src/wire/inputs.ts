import type { Inputs } from "@ringwall/wire";

/**
 * True if `inputs` are below `other`: of an earlier generation or, within one, lower in a component.
 * Absent inputs are below everything that is not absent.
 */
export function isBelow(inputs: Inputs | undefined, other: Inputs | undefined): boolean {
  if (other === undefined) {
    return false;
  }
  if (inputs === undefined) {
    return true;
  }
  if (inputs.generation !== other.generation) {
    return inputs.generation < other.generation;
  }
  return (
    inputs.configSequence < other.configSequence || inputs.registryRevision < other.registryRevision
  );
}
