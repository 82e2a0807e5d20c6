import type { Configuration, ModeName, SelectorSpec, WorkloadSpec } from "@ringwall/render";

/** Labels of a workload. */
export type Labels = Readonly<Record<string, string>>;

/** A workload as rules see it. */
export interface Effective {
  readonly labels: Labels;
  readonly mode: ModeName;
  readonly weaker: boolean;
  readonly outbounds: readonly string[];
}

/** AND over keys, OR over values; empty matches nothing. */
export function selects(selector: SelectorSpec, labels: Labels): boolean {
  const keys = Object.keys(selector);
  return (
    keys.length > 0 &&
    keys.every((key) => {
      const value = labels[key];
      return value !== undefined && (selector[key] ?? []).includes(value);
    })
  );
}

/** Byte order of UTF-8. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Source labels, overlaid by selector units (lowest name wins), then by the own unit. */
export function effective(
  workload: WorkloadSpec,
  { inventory }: Pick<Configuration, "inventory">,
): Effective {
  const units = [...inventory].sort((a, b) => byBytes(a.name, b.name));
  const own = units.find((unit) => unit.workload === workload.id);
  const base = { ...workload.labels, ...own?.labels };
  const matching = units.filter(
    (unit) => unit.workload === undefined && selects(unit.selector ?? {}, base),
  );
  let labels: Labels = workload.labels;
  for (const unit of [...matching].reverse()) {
    labels = { ...labels, ...unit.labels };
  }
  labels = { ...labels, ...own?.labels };
  const strictness = { visibility: 0, simulation: 1, enforced: 2 };
  const strictest = matching
    .flatMap(({ mode }) => mode ?? [])
    .sort((a, b) => strictness[b] - strictness[a])[0];
  const mode = own?.mode ?? strictest;
  const speaking = own === undefined ? matching : [own, ...matching];
  return {
    labels,
    mode: mode ?? (workload.enforced ? "enforced" : "visibility"),
    weaker: mode !== undefined && mode !== "enforced",
    outbounds: [
      ...new Set([...workload.outbounds, ...speaking.flatMap((unit) => unit.outbounds ?? [])]),
    ].sort(byBytes),
  };
}
