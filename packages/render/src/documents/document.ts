import type {
  AddressGroupSpec,
  AlertSinkSpec,
  InventorySpec,
  RulesetSpec,
  ServiceSpec,
  TrafficRouteSpec,
} from "../model.ts";

/** One authored document. */
export type Document =
  | { readonly kind: "Ruleset"; readonly spec: RulesetSpec }
  | { readonly kind: "Service"; readonly spec: ServiceSpec }
  | { readonly kind: "AddressGroup"; readonly spec: AddressGroupSpec }
  | { readonly kind: "TrafficRoute"; readonly spec: TrafficRouteSpec }
  | { readonly kind: "Inventory"; readonly spec: InventorySpec }
  | { readonly kind: "AlertSink"; readonly spec: AlertSinkSpec };

/** Kind of a document as written in its `kind` key. */
export type DocumentKind = Document["kind"];

/** Every kind with the type name that its path in the tree uses. */
export const DOCUMENT_TYPES: Readonly<Record<DocumentKind, string>> = {
  Ruleset: "ruleset",
  Service: "service",
  AddressGroup: "address-group",
  TrafficRoute: "traffic-route",
  Inventory: "inventory",
  AlertSink: "alert-sink",
};

/** Module that every authored unit of the tree belongs to. */
export const POLICY_MODULE = "policy";

/** True if `text` is the name of a document kind. */
export function isDocumentKind(text: string): text is DocumentKind {
  return Object.hasOwn(DOCUMENT_TYPES, text);
}

/** Name of a document, `<namespace>/<name>` for a traffic route with a namespace. */
export function nameOf(document: Document): string {
  if (document.kind !== "TrafficRoute" || !document.spec.namespace) {
    return document.spec.name;
  }
  return `${document.spec.namespace}/${document.spec.name}`;
}

/** Path of a document in a layer, `policy/<type>/<name>/<type>.yaml`. */
export function pathOf(document: Document): string {
  const type = DOCUMENT_TYPES[document.kind];
  return `${POLICY_MODULE}/${type}/${nameOf(document)}/${type}.yaml`;
}

/** A path of the tree taken apart, or undefined if no document can live there. */
export function readPath(path: string): { kind: DocumentKind; name: string } | undefined {
  const parts = path.split("/");
  const type = parts[1];
  const kind = Object.entries(DOCUMENT_TYPES).find(([, name]) => name === type)?.[0];
  const allowed = kind === "TrafficRoute" ? [4, 5] : [4];
  if (
    kind === undefined ||
    !isDocumentKind(kind) ||
    parts[0] !== POLICY_MODULE ||
    !allowed.includes(parts.length) ||
    parts.at(-1) !== `${type}.yaml` ||
    parts.includes("")
  ) {
    return undefined;
  }
  return { kind, name: parts.slice(2, -1).join("/") };
}
