import type { Inputs } from "@ringwall/wire";
import { toHex } from "./hex.ts";

/**
 * True if `inputs` are below `last`: an earlier generation or, within one, an earlier configuration
 * or an earlier registry, whatever the other component says.
 */
export function isBelow(inputs: Inputs, last: Inputs): boolean {
  if (inputs.generation !== last.generation) {
    return inputs.generation < last.generation;
  }
  return (
    inputs.configSequence < last.configSequence || inputs.registryRevision < last.registryRevision
  );
}

/** True if `inputs` are above `last` in a component, or of a later generation. */
export function isAbove(inputs: Inputs, last: Inputs): boolean {
  return isBelow(last, inputs);
}

/** A commit as inputs name it: `<sequence>:<id in hex>`. */
export function commitName(inputs: Pick<Inputs, "configSequence" | "commitId">): string {
  return `${inputs.configSequence}:${toHex(inputs.commitId)}`;
}

/** The highest of some generations or epochs; 0 if there are none. */
export function highestOf(values: Iterable<bigint>): bigint {
  let highest = 0n;
  for (const value of values) {
    if (value > highest) {
      highest = value;
    }
  }
  return highest;
}
