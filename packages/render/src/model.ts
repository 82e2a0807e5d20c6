/**
 * The authored model: what people declare, after the documents were read. Selectors are plain
 * objects here (AND over keys, OR over values); `packages/labels` interns them.
 */

/** Authored selector: every key must have one of its values. Empty matches nothing. */
export type SelectorSpec = Readonly<Record<string, readonly string[]>>;

/** Enforcement mode as written in documents, weakest first. */
export type ModeName = "visibility" | "simulation" | "enforced";

/** Exactly one of the three members is set in an admitted peer. */
export interface PeerSpec {
  readonly workloads?: SelectorSpec;
  readonly addressGroup?: string;
  readonly cidr?: string;
}

/** Protocol and ports; a port is `22` or `6000-6010`. No ports means every port. */
export interface EntrySpec {
  readonly protocol: string;
  readonly ports?: readonly string[];
}

export interface RuleSpec {
  /** UUID; derived from name or content when absent. */
  readonly id?: string;
  readonly name?: string;
  /** Default true. */
  readonly enabled?: boolean;
  /** Only `inbound` is admitted. */
  readonly direction?: string;
  readonly peers: readonly PeerSpec[];
  /** Names of services. */
  readonly services?: readonly string[];
  readonly entries?: readonly EntrySpec[];
}

export interface RulesetSpec {
  readonly name: string;
  /** Default true. */
  readonly enabled?: boolean;
  /** Whom it protects. */
  readonly scope: SelectorSpec;
  readonly rules: readonly RuleSpec[];
}

export interface ServiceSpec {
  readonly name: string;
  readonly entries: readonly EntrySpec[];
}

export interface AddressGroupSpec {
  readonly name: string;
  readonly cidrs: readonly string[];
}

/** Flat tags; a value `*` in a selector matches any value. */
export type Tags = Readonly<Record<string, string>>;

export interface SplitSpec {
  /** u32. */
  readonly weight: number;
  readonly tags: Tags;
}

export interface TrafficRouteSpec {
  /** Default `default`. */
  readonly mesh?: string;
  /** Default empty. */
  readonly namespace?: string;
  readonly name: string;
  readonly sources: readonly Tags[];
  readonly destinations: readonly Tags[];
  readonly split: readonly SplitSpec[];
}

/** Labels and mode of one workload or of every workload that a selector matches. */
export interface InventorySpec {
  /** Unit name: orders selector units. */
  readonly name: string;
  /** Exactly one of `workload` and `selector` is set. */
  readonly workload?: string;
  readonly selector?: SelectorSpec;
  readonly labels?: Readonly<Record<string, string>>;
  readonly mode?: ModeName;
  /** Declared outbound services. */
  readonly outbounds?: readonly string[];
}

/** The admitted configuration that bodies are rendered from. */
export interface Configuration {
  readonly rulesets: readonly RulesetSpec[];
  readonly services: readonly ServiceSpec[];
  readonly addressGroups: readonly AddressGroupSpec[];
  readonly routes: readonly TrafficRouteSpec[];
  readonly inventory: readonly InventorySpec[];
  /** Not rendered; read by whoever sends alarms. */
  readonly alertSinks?: readonly AlertSinkSpec[];
}

/** One service that a workload serves, as the registry holds it. */
export interface RowSpec {
  readonly service: string;
  /** Empty or absent: every address of the workload. */
  readonly address?: string;
  readonly port: number;
  readonly ports: readonly number[];
  /** Class of each port: 0 unspecified, 1 HTTP, 2 TCP, 3 UDP. */
  readonly portClasses: Readonly<Record<number, number>>;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** One workload as the registry knows it, for rendering. */
export interface WorkloadSpec {
  readonly id: string;
  /** Source labels, before any inventory unit. */
  readonly labels: Readonly<Record<string, string>>;
  /** Bare addresses. */
  readonly addresses: readonly string[];
  readonly rows: readonly RowSpec[];
  readonly outbounds: readonly string[];
  readonly presence: "live" | "stale" | "draining" | "expired";
  /** True once an enforced body was rendered for it. */
  readonly enforced: boolean;
}

/** Where alarms are sent. */
export interface AlertSinkSpec {
  readonly name: string;
  /** `http` or `https`, without credentials in it. */
  readonly url: string;
  /** Names of the alarms that it takes; every alarm when absent. */
  readonly events?: readonly string[];
}
