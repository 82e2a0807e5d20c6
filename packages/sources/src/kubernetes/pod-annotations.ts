import {
  METADATA_PREFIX,
  PORT_ANNOTATION,
  PORTS_ANNOTATION,
  PROTOCOL_ANNOTATION,
} from "@ringwall/endpointmeta";
import type { Pod } from "./pod.ts";
import type { Service, ServicePort } from "./service.ts";

/** Prefixes of the annotations that say something about endpoints and routes. */
const PREFIXES = ["endpoint.aether.io/", METADATA_PREFIX, "config.aether.io/"];

/**
 * Endpoint annotations of a pod: its own ones; where they name no port and services select the pod,
 * the ports of those services as annotations. So there is one reading of ports, whatever they were
 * declared in.
 */
export function podAnnotations(pod: Pod, services: readonly Service[]): Record<string, string> {
  const own = Object.fromEntries(
    Object.entries(pod.annotations).filter(([key]) =>
      PREFIXES.some((prefix) => key.startsWith(prefix)),
    ),
  );
  const declares = [PORT_ANNOTATION, PORTS_ANNOTATION, PROTOCOL_ANNOTATION].some((key) =>
    Object.hasOwn(own, key),
  );
  return declares ? own : { ...own, ...servicePorts(pod, services) };
}

/** True if the pod says of itself that it is an endpoint. */
export function declaresEndpoint(pod: Pod): boolean {
  return Object.keys(pod.annotations).some((key) => key.startsWith("endpoint.aether.io/"));
}

function servicePorts(pod: Pod, services: readonly Service[]): Record<string, string> {
  const classes = new Map<number, string>();
  for (const service of services) {
    for (const port of service.ports) {
      const target = targetOf(port, pod);
      const portClass = classOf(port);
      if (target !== undefined && portClass !== undefined && !classes.has(target)) {
        classes.set(target, portClass);
      }
    }
  }
  const [primary] = classes;
  if (primary === undefined) {
    return {};
  }
  const [port, protocol] = primary;
  return {
    [PORT_ANNOTATION]: String(port),
    [PROTOCOL_ANNOTATION]: protocol,
    [PORTS_ANNOTATION]: [...classes]
      .sort(([a], [b]) => a - b)
      .map(([each, portClass]) => `${each}=${portClass === "http" ? "h1" : portClass}`)
      .join(","),
  };
}

function targetOf(port: ServicePort, pod: Pod): number | undefined {
  return typeof port.target === "number"
    ? port.target
    : pod.ports.find((each) => each.name === port.target)?.port;
}

/** Class of a service's port; undefined for a transport that Ringwall does not know. */
function classOf({ protocol, appProtocol, name }: ServicePort): string | undefined {
  if (protocol === "UDP") {
    return "udp";
  }
  if (protocol !== "TCP") {
    return undefined;
  }
  const application = appProtocol || (name.split("-")[0] ?? "");
  return HTTP.has(application.toLowerCase()) ? "http" : "tcp";
}

/** Application protocols that are HTTP on the wire. TLS is not: nobody in between can read it. */
const HTTP = new Set(["http", "http2", "h2c", "grpc", "kubernetes.io/h2c", "kubernetes.io/ws"]);
