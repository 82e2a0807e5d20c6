import type { EngineState } from "./state.ts";

/** Numbers of what an engine holds, each distinct thing once. */
export interface EngineSizes {
  readonly workloads: number;
  /** Groups of workloads that nothing distinguishes but name, addresses and what they serve. */
  readonly cells: number;
  /** Groups of workloads that share a body. */
  readonly classes: number;
  readonly ruleLists: number;
  readonly labelSets: number;
  readonly selectors: number;
  readonly peerSources: number;
  readonly endpointSets: number;
  /** Addresses, prefixes and endpoints. */
  readonly texts: number;
}

/** Counts what is held. */
export function sizesOf(state: EngineState): EngineSizes {
  const { buckets, classes, fleet, labels, lists, sources, texts } = state;
  return {
    workloads: fleet.size,
    cells: fleet.cells.size,
    classes: classes.size,
    ruleLists: lists.size,
    labelSets: labels.setTotal,
    selectors: labels.selectorTotal,
    peerSources: sources.size,
    endpointSets: buckets.size,
    texts: texts.size,
  };
}
