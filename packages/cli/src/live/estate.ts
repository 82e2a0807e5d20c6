import { type EffectiveWorkload, effectiveWorkloads } from "@ringwall/render";
import type { WorkloadRecord } from "@ringwall/wire";
import { CliError } from "../errors.ts";
import type { Operator } from "./operator.ts";
import { listWorkloads, type Registry, workloadSpec } from "./registry.ts";
import { type LiveConfiguration, readConfiguration } from "./tree.ts";

/** The estate as rules see it: registry and configuration, each at one moment. */
export interface Estate extends LiveConfiguration {
  readonly registry: Registry;
  readonly workloads: readonly EffectiveWorkload[];
  readonly records: ReadonlyMap<string, WorkloadRecord>;
}

/**
 * Reads registry and configuration and overlays labels, modes and outbounds. With `known` the
 * documents are read again only if the head has moved.
 */
export async function readEstate(operator: Operator, known?: LiveConfiguration): Promise<Estate> {
  const [{ tree, configuration, findings }, registry] = await Promise.all([
    readConfiguration(operator, known),
    listWorkloads(operator),
  ]);
  return {
    tree,
    configuration,
    findings,
    registry,
    workloads: effectiveWorkloads(configuration, registry.workloads.map(workloadSpec)),
    records: new Map(registry.workloads.map((record) => [record.id, record])),
  };
}

/** Finds a workload or ends the command, with the ids that are near. */
export function findWorkload(estate: Estate, id: string): EffectiveWorkload {
  const found = estate.workloads.find(({ workload }) => workload.id === id);
  if (found !== undefined) return found;
  const near = estate.workloads
    .map(({ workload }) => workload.id)
    .filter((known) => known.includes(id) || id.includes(known) || known.startsWith(id.slice(0, 3)))
    .slice(0, 5);
  throw new CliError("refused", `workload "${id}" is not in the registry`, {
    hint:
      near.length > 0
        ? `did you mean ${near.join(", ")}?`
        : "`ringwall get workloads` lists them; `ringwall workload admit` creates one",
  });
}
