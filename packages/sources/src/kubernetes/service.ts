import { asArray, asObject, asText, type Json, textMap } from "./json.ts";
import { type Meta, readMeta } from "./meta.ts";

/** One port of a service. */
export interface ServicePort {
  readonly name: string;
  readonly port: number;
  /** Port of the pods: a number, or the name of a container's port. */
  readonly target: number | string;
  /** `TCP`, `UDP` or `SCTP`. */
  readonly protocol: string;
  readonly appProtocol: string;
}

/** What is read of a service. */
export interface Service extends Meta {
  readonly kind: "service";
  /** Pods with all of these labels serve it; an empty one selects none. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
}

/** Reads a service; undefined if it has no name. One without a selector is served by no pod. */
export function readService(value: Json): Service | undefined {
  const meta = readMeta(value);
  if (meta === undefined) {
    return undefined;
  }
  const spec = asObject(value.spec);
  const external = spec.type === "ExternalName";
  return {
    ...meta,
    kind: "service",
    selector: external ? {} : textMap(spec.selector),
    ports: asArray(spec.ports)
      .map(asObject)
      .flatMap((port) => readPort(port)),
  };
}

/** True if the service's selector finds a pod with these labels. */
export function selects(service: Service, labels: Readonly<Record<string, string>>): boolean {
  const wanted = Object.entries(service.selector);
  return (
    wanted.length > 0 &&
    wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
  );
}

function readPort(port: Json): ServicePort[] {
  if (typeof port.port !== "number") {
    return [];
  }
  const { targetPort } = port;
  const target =
    typeof targetPort === "number" || (typeof targetPort === "string" && targetPort !== "")
      ? targetPort
      : port.port;
  return [
    {
      name: asText(port.name),
      port: port.port,
      target: typeof target === "string" && /^\d+$/.test(target) ? Number(target) : target,
      protocol: asText(port.protocol) || "TCP",
      appProtocol: asText(port.appProtocol),
    },
  ];
}
