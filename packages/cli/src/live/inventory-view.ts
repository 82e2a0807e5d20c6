import type { EffectiveWorkload } from "@ringwall/render";
import { WorkloadSource, type WorkloadStatus } from "@ringwall/wire";
import { effectiveFile, inventoryPath } from "../input/inventory-unit.ts";
import type { Estate } from "./estate.ts";
import { presenceName } from "./registry.ts";
import { modeName, stateName } from "./status.ts";

/** One workload with everything that `get workloads` knows. */
export interface WorkloadView {
  readonly id: string;
  readonly labels: readonly { key: string; value: string; source: string }[];
  readonly mode: string;
  readonly modeSource: string;
  /** Version at the head; 0 if it has none. */
  readonly version: bigint;
  readonly acked: bigint;
  readonly state: string;
  readonly detail: string;
  readonly addresses: readonly string[];
  readonly services: readonly string[];
  readonly outbounds: readonly string[];
  readonly presence: string;
  readonly source: string;
  readonly namespace: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly agent: string;
  readonly facts: Readonly<Record<string, string>>;
}

type Origin = EffectiveWorkload["modeOrigin"];

/** Where a label or mode comes from, as people say it. */
export function originText(estate: Estate, origin: Origin | undefined, source: string): string {
  if (origin === undefined || origin.kind === "default") return "default";
  if (origin.kind === "registry") return source;
  const layer = effectiveFile(estate.tree, inventoryPath(origin.unit))?.layer ?? "core";
  return `inventory ${origin.unit} (${layer})`;
}

/** The source of a record as people say it. */
export function sourceName(source: WorkloadSource): string {
  switch (source) {
    case WorkloadSource.AGENT:
      return "agent";
    case WorkloadSource.INVENTORY:
      return "adapter";
    case WorkloadSource.KUBERNETES:
      return "kubernetes";
    case WorkloadSource.OPERATOR:
      return "operator";
    default:
      return "unknown";
  }
}

/** Joins registry, configuration and delivery state of every workload. */
export function workloadViews(estate: Estate, statuses: readonly WorkloadStatus[]): WorkloadView[] {
  const byId = new Map(statuses.map((status) => [status.workload, status]));
  return estate.workloads.map((effective) => {
    const { id } = effective.workload;
    const record = estate.records.get(id);
    const status = byId.get(id);
    const source = sourceName(record?.source ?? WorkloadSource.UNSPECIFIED);
    return {
      id,
      labels: Object.entries(effective.labels).map(([key, value]) => ({
        key,
        value,
        source: originText(estate, effective.labelOrigins[key], source),
      })),
      mode: effective.mode,
      modeSource: originText(estate, effective.modeOrigin, source),
      version: status?.headVersion ?? 0n,
      acked: status?.ackedVersion ?? 0n,
      state: status === undefined ? "OFFLINE" : stateName(status.state),
      detail: status?.detail ?? "no agent has said hello",
      addresses: effective.workload.addresses,
      services: (record?.rows ?? []).map((row) => row.service),
      outbounds: effective.outbounds,
      presence: record === undefined ? "live" : presenceName(record.presence),
      source,
      namespace: record?.namespace ?? "",
      attributes: record?.attributes ?? {},
      agent: status?.agentVersion ?? "",
      facts: status?.facts ?? {},
    };
  });
}

/** Agents that say hello for workloads that the registry does not hold. */
export function strangers(estate: Estate, statuses: readonly WorkloadStatus[]): WorkloadView[] {
  return statuses
    .filter((status) => !estate.records.has(status.workload))
    .map((status) => ({
      id: status.workload,
      labels: [],
      mode: modeName(status.mode),
      modeSource: "its last policy",
      version: status.headVersion,
      acked: status.ackedVersion,
      state: stateName(status.state),
      detail: status.detail,
      addresses: [],
      services: [],
      outbounds: [],
      presence: "-",
      source: "unknown",
      namespace: "",
      attributes: {},
      agent: status.agentVersion,
      facts: status.facts,
    }));
}
