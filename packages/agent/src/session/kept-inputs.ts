import { create } from "@bufbuild/protobuf";
import { type Inputs, InputsSchema } from "@ringwall/wire";

/** What was kept last; it only saves memory. */
let latest: Inputs | undefined;

/**
 * A copy of inputs that came over the wire, to be kept for long: they would hold the whole buffer
 * that they were read from. Agents of one process mostly have the same inputs and share one copy.
 */
export function keptInputs(inputs: Inputs | undefined): Inputs | undefined {
  if (inputs === undefined || (latest !== undefined && isEqual(latest, inputs))) {
    return inputs && latest;
  }
  latest = create(InputsSchema, { ...inputs, commitId: inputs.commitId.slice() });
  return latest;
}

function isEqual(a: Inputs, b: Inputs): boolean {
  return (
    a.generation === b.generation &&
    a.configSequence === b.configSequence &&
    a.registryRevision === b.registryRevision &&
    a.registryTimeUnixMs === b.registryTimeUnixMs &&
    Buffer.compare(a.commitId, b.commitId) === 0
  );
}
