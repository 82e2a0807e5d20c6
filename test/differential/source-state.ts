import type { Configuration, SourceChange, WorkloadSpec } from "@ringwall/render";

/** Inputs of a render, after some changes. */
export interface SourceState {
  readonly configuration: Configuration;
  readonly workloads: ReadonlyMap<string, WorkloadSpec>;
}

/** Nothing at all. */
export const EMPTY_STATE: SourceState = {
  configuration: { rulesets: [], services: [], addressGroups: [], routes: [], inventory: [] },
  workloads: new Map(),
};

/** The inputs after one more change. */
export function after(state: SourceState, change: SourceChange): SourceState {
  switch (change.kind) {
    case "configuration":
      return { ...state, configuration: change.configuration };
    case "workload": {
      const { workload } = change;
      return { ...state, workloads: new Map(state.workloads).set(workload.id, workload) };
    }
    case "removal": {
      const workloads = new Map(state.workloads);
      workloads.delete(change.id);
      return { ...state, workloads };
    }
  }
}
