import type { Configuration, ModeName, SelectorSpec, WorkloadSpec } from "@ringwall/render";

const STRICTNESS: readonly ModeName[] = ["visibility", "simulation", "enforced"];

/**
 * True if the configuration names a mode weaker than enforced for a workload: its own unit's, else the
 * strictest of the selector units that match. Written from the rule, not from the code that renders.
 */
export function isWeaker({ inventory }: Configuration, { id, labels }: WorkloadSpec): boolean {
  const own = inventory
    .filter(({ workload }) => workload === id)
    .sort((a, b) => (a.name < b.name ? -1 : 1))[0];
  if (own?.mode !== undefined) {
    return own.mode !== "enforced";
  }
  const base = { ...labels, ...own?.labels };
  const modes = inventory.flatMap(({ selector, mode }) =>
    selector !== undefined && mode !== undefined && selects(selector, base) ? [mode] : [],
  );
  const strictest = Math.max(...modes.map((mode) => STRICTNESS.indexOf(mode)));
  return modes.length > 0 && STRICTNESS[strictest] !== "enforced";
}

/** Every key must have one of its values; an empty selector matches nothing. */
function selects(selector: SelectorSpec, labels: Readonly<Record<string, string>>): boolean {
  const keys = Object.entries(selector);
  return keys.length > 0 && keys.every(([key, values]) => values.includes(labels[key] ?? ""));
}
