import type { Inputs } from "@ringwall/wire";

/**
 * True if `inputs` are below `last`: of an earlier generation or, within one, with an earlier
 * configuration or an earlier registry, whatever the other component says.
 */
export function isBelow(inputs: Inputs, last: Inputs): boolean {
  if (inputs.generation !== last.generation) {
    return inputs.generation < last.generation;
  }
  return (
    inputs.configSequence < last.configSequence || inputs.registryRevision < last.registryRevision
  );
}
