import { renderAll } from "@ringwall/render";
import { bodyDigest } from "@ringwall/rendered";
import type { TreeState } from "./config-oracle.ts";
import type { RegistryState } from "./registry-oracle.ts";

/** Digests of bodies by workload; undefined for one that breaks a limit. */
export type Bodies = ReadonlyMap<string, string | undefined>;

/** Full renders, each made once. */
export class RenderOracle {
  /** By tree and the registry's content. */
  readonly #known = new Map<TreeState, Map<string, Bodies>>();

  bodies(tree: TreeState, registry: RegistryState): Bodies {
    const ofTree = this.#known.get(tree) ?? new Map<string, Bodies>();
    this.#known.set(tree, ofTree);
    let bodies = ofTree.get(registry.content);
    if (bodies === undefined) {
      bodies = renderedBodies(tree, registry);
      ofTree.set(registry.content, bodies);
    }
    return bodies;
  }
}

function renderedBodies(tree: TreeState, registry: RegistryState): Bodies {
  const outcomes = renderAll(tree.configuration, registry.workloads.values());
  return new Map(
    Array.from(outcomes, ([id, outcome]) => [
      id,
      "policy" in outcome ? bodyDigest(outcome.policy) : undefined,
    ]),
  );
}
