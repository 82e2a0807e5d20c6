import { asArray, asObject, asText, type Json, textMap } from "./json.ts";
import { type Meta, readMeta } from "./meta.ts";

/** A container's port. */
export interface ContainerPort {
  readonly name: string;
  readonly port: number;
}

/** What is read of a pod. */
export interface Pod extends Meta {
  readonly kind: "pod";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly node: string;
  readonly serviceAccount: string;
  readonly hostNetwork: boolean;
  /** Unix milliseconds; 0 if unknown. */
  readonly createdUnixMs: number;
  /** True once its deletion was asked for. */
  readonly deleting: boolean;
  /** True once all its containers ended for good. */
  readonly finished: boolean;
  readonly ready: boolean;
  /** Every address of its status, both families. */
  readonly ips: readonly string[];
  readonly ports: readonly ContainerPort[];
}

/** Reads a pod; undefined if it has no name or uid. */
export function readPod(value: Json): Pod | undefined {
  const meta = readMeta(value);
  if (meta === undefined) {
    return undefined;
  }
  const metadata = asObject(value.metadata);
  const spec = asObject(value.spec);
  const status = asObject(value.status);
  const phase = asText(status.phase);
  return {
    ...meta,
    kind: "pod",
    labels: textMap(metadata.labels),
    annotations: textMap(metadata.annotations),
    node: asText(spec.nodeName),
    serviceAccount: asText(spec.serviceAccountName) || asText(spec.serviceAccount) || "default",
    hostNetwork: spec.hostNetwork === true,
    createdUnixMs: Date.parse(asText(metadata.creationTimestamp)) || 0,
    deleting: asText(metadata.deletionTimestamp) !== "",
    finished: phase === "Succeeded" || phase === "Failed",
    ready: isReady(status),
    ips: podIps(status),
    ports: containerPorts(spec),
  };
}

function isReady(status: Json): boolean {
  return asArray(status.conditions)
    .map(asObject)
    .some((condition) => condition.type === "Ready" && condition.status === "True");
}

function podIps(status: Json): string[] {
  const listed = asArray(status.podIPs).map((each) => asText(asObject(each).ip));
  return [...new Set([asText(status.podIP), ...listed])].filter((ip) => ip !== "");
}

/** Ports of the containers; sidecars (init containers that restart for ever) serve too. */
function containerPorts(spec: Json): ContainerPort[] {
  const sidecars = asArray(spec.initContainers)
    .map(asObject)
    .filter((container) => container.restartPolicy === "Always");
  return [...asArray(spec.containers).map(asObject), ...sidecars]
    .flatMap((container) => asArray(container.ports).map(asObject))
    .flatMap((port) =>
      typeof port.containerPort === "number"
        ? [{ name: asText(port.name), port: port.containerPort }]
        : [],
    );
}
