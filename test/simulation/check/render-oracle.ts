import { renderAll } from "@ringwall/render";
import { bodyDigest } from "@ringwall/rendered";
import type { TreeState } from "./config-oracle.ts";
import type { RegistryState } from "./registry-oracle.ts";

/** Digests of bodies by workload; undefined for one that breaks a limit. */
export type Bodies = ReadonlyMap<string, string | undefined>;

/** Full renders, each made once. */
export class RenderOracle {
  readonly #known = new Map<string, Bodies>();

  bodies(tree: TreeState, registry: RegistryState): Bodies {
    const name = `${tree.id} ${registry.content}`;
    let bodies = this.#known.get(name);
    if (bodies === undefined) {
      bodies = renderedBodies(tree, registry);
      this.#known.set(name, bodies);
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
