import { LabelsError, parseSelector } from "@ringwall/labels";
import type {
  AddressGroupSpec,
  AlertSinkSpec,
  EntrySpec,
  InventorySpec,
  ModeName,
  PeerSpec,
  RuleSpec,
  RulesetSpec,
  SelectorSpec,
  ServiceSpec,
  SplitSpec,
  Tags,
  TrafficRouteSpec,
} from "../model.ts";
import type { Cursor } from "./cursor.ts";
import type { Document, DocumentKind } from "./document.ts";

const text = (cursor: Cursor) => cursor.text();
const boolean = (cursor: Cursor) => cursor.boolean();
const texts = (cursor: Cursor) => cursor.list(text);
const ports = (cursor: Cursor) => cursor.list((port) => port.textOrDigits());
const tags = (cursor: Cursor): Tags | undefined => cursor.record(text);

/** Reads the fields of a document of this kind; undefined after a finding that leaves no document. */
export function readShape(kind: DocumentKind, cursor: Cursor): Document | undefined {
  switch (kind) {
    case "Ruleset":
      return document(kind, ruleset(cursor));
    case "Service":
      return document(kind, service(cursor));
    case "AddressGroup":
      return document(kind, addressGroup(cursor));
    case "TrafficRoute":
      return document(kind, trafficRoute(cursor));
    case "Inventory":
      return document(kind, inventory(cursor));
    case "AlertSink":
      return document(kind, alertSink(cursor));
  }
}

function document<Kind extends DocumentKind, Spec>(
  kind: Kind,
  spec: Spec | undefined,
): { readonly kind: Kind; readonly spec: Spec } | undefined {
  return spec === undefined ? undefined : { kind, spec };
}

/** A selector: a map from keys to a value or a list of values, or the text form. */
function selector(cursor: Cursor): SelectorSpec | undefined {
  if (!cursor.isText) {
    return cursor.record((values) => {
      if (values.isList) {
        return texts(values);
      }
      const value = values.text();
      return value === undefined ? undefined : [value];
    });
  }
  try {
    return parseSelector(cursor.text() ?? "");
  } catch (error) {
    if (error instanceof LabelsError) {
      return cursor.fault("selector-syntax", error.message);
    }
    throw error;
  }
}

function entry(cursor: Cursor): EntrySpec | undefined {
  const fields = cursor.fields(["protocol", "ports"]);
  const protocol = fields?.required("protocol", text);
  const rest = fields?.optional("ports", ports);
  return protocol === undefined ? undefined : { protocol, ...rest };
}

const entries = (cursor: Cursor) => cursor.list(entry);

function peer(cursor: Cursor): PeerSpec | undefined {
  const fields = cursor.fields(["workloads", "addressGroup", "cidr"]);
  return (
    fields && {
      ...fields.optional("workloads", selector),
      ...fields.optional("addressGroup", text),
      ...fields.optional("cidr", text),
    }
  );
}

function rule(cursor: Cursor): RuleSpec | undefined {
  const fields = cursor.fields([
    "id",
    "name",
    "enabled",
    "direction",
    "peers",
    "services",
    "entries",
  ]);
  return (
    fields && {
      ...fields.optional("id", text),
      ...fields.optional("name", text),
      ...fields.optional("enabled", boolean),
      ...fields.optional("direction", text),
      peers: fields.required("peers", (peers) => peers.list(peer)) ?? [],
      ...fields.optional("services", texts),
      ...fields.optional("entries", entries),
    }
  );
}

function ruleset(cursor: Cursor): RulesetSpec | undefined {
  const fields = cursor.fields(["kind", "name", "enabled", "scope", "rules"]);
  return (
    fields && {
      name: fields.required("name", text) ?? "",
      ...fields.optional("enabled", boolean),
      scope: fields.required("scope", selector) ?? {},
      rules: fields.required("rules", (rules) => rules.list(rule)) ?? [],
    }
  );
}

function service(cursor: Cursor): ServiceSpec | undefined {
  const fields = cursor.fields(["kind", "name", "entries"]);
  return (
    fields && {
      name: fields.required("name", text) ?? "",
      entries: fields.required("entries", entries) ?? [],
    }
  );
}

function addressGroup(cursor: Cursor): AddressGroupSpec | undefined {
  const fields = cursor.fields(["kind", "name", "cidrs"]);
  return (
    fields && {
      name: fields.required("name", text) ?? "",
      cidrs: fields.required("cidrs", texts) ?? [],
    }
  );
}

function split(cursor: Cursor): SplitSpec | undefined {
  const fields = cursor.fields(["weight", "tags"]);
  return (
    fields && {
      weight: fields.required("weight", (weight) => weight.unsigned()) ?? 0,
      tags: fields.required("tags", tags) ?? {},
    }
  );
}

function trafficRoute(cursor: Cursor): TrafficRouteSpec | undefined {
  const fields = cursor.fields([
    "kind",
    "mesh",
    "namespace",
    "name",
    "sources",
    "destinations",
    "split",
  ]);
  return (
    fields && {
      ...fields.optional("mesh", text),
      ...fields.optional("namespace", text),
      name: fields.required("name", text) ?? "",
      sources: fields.required("sources", (list) => list.list(tags)) ?? [],
      destinations: fields.required("destinations", (list) => list.list(tags)) ?? [],
      split: fields.required("split", (list) => list.list(split)) ?? [],
    }
  );
}

function mode(cursor: Cursor): ModeName | undefined {
  const value = cursor.text();
  if (value === "visibility" || value === "simulation" || value === "enforced") {
    return value;
  }
  return value === undefined
    ? undefined
    : cursor.fault(
        "mode",
        `mode "${value}" is not known; write visibility, simulation or enforced`,
      );
}

function inventory(cursor: Cursor): InventorySpec | undefined {
  const fields = cursor.fields([
    "kind",
    "name",
    "workload",
    "selector",
    "labels",
    "mode",
    "outbounds",
  ]);
  return (
    fields && {
      name: fields.required("name", text) ?? "",
      ...fields.optional("workload", text),
      ...fields.optional("selector", selector),
      ...fields.optional("labels", tags),
      ...fields.optional("mode", mode),
      ...fields.optional("outbounds", texts),
    }
  );
}

function alertSink(cursor: Cursor): AlertSinkSpec | undefined {
  const fields = cursor.fields(["kind", "name", "url", "events"]);
  return (
    fields && {
      name: fields.required("name", text) ?? "",
      url: fields.required("url", text) ?? "",
      ...fields.optional("events", texts),
    }
  );
}
