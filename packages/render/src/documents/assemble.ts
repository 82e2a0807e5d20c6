import { compareBytes } from "@ringwall/labels";
import type { Finding } from "../finding.ts";
import type {
  AddressGroupSpec,
  AlertSinkSpec,
  Configuration,
  InventorySpec,
  RulesetSpec,
  ServiceSpec,
  TrafficRouteSpec,
} from "../model.ts";
import { nameOf } from "./document.ts";
import type { LocatedDocument } from "./read-document.ts";

/** A configuration that knows which document each of its parts came from. */
export interface AssembledConfiguration {
  readonly configuration: Configuration;
  /** Documents in the order of the configuration's lists: `rulesets[2]`, … */
  readonly sources: ReadonlyMap<string, LocatedDocument>;
}

/**
 * Puts documents into one configuration, in byte order of their names so that the order in which
 * files were read shows nowhere. Documents of one name stay and are refused by admission.
 */
export function assembleConfiguration(
  documents: readonly LocatedDocument[],
): AssembledConfiguration {
  const sorted = [...documents].sort(
    (a, b) =>
      compareBytes(nameOf(a.document), nameOf(b.document)) ||
      compareBytes(a.file, b.file) ||
      (a.lines.get("") ?? 0) - (b.lines.get("") ?? 0),
  );
  const rulesets: RulesetSpec[] = [];
  const services: ServiceSpec[] = [];
  const addressGroups: AddressGroupSpec[] = [];
  const routes: TrafficRouteSpec[] = [];
  const inventory: InventorySpec[] = [];
  const alertSinks: AlertSinkSpec[] = [];
  const sources = new Map<string, LocatedDocument>();
  const place = <Spec>(name: string, list: Spec[], spec: Spec, located: LocatedDocument) => {
    sources.set(`${name}[${list.length}]`, located);
    list.push(spec);
  };
  for (const located of sorted) {
    const { document } = located;
    switch (document.kind) {
      case "Ruleset":
        place("rulesets", rulesets, document.spec, located);
        break;
      case "Service":
        place("services", services, document.spec, located);
        break;
      case "AddressGroup":
        place("addressGroups", addressGroups, document.spec, located);
        break;
      case "TrafficRoute":
        place("routes", routes, document.spec, located);
        break;
      case "Inventory":
        place("inventory", inventory, document.spec, located);
        break;
      case "AlertSink":
        place("alertSinks", alertSinks, document.spec, located);
        break;
    }
  }
  const configuration = { rulesets, services, addressGroups, routes, inventory, alertSinks };
  return { configuration, sources };
}

const PLACE = /^([a-zA-Z]+\[\d+\])\.?(.*)$/s;

/**
 * Gives findings of `admit(…, { fullPaths: true })` the file and line of the document they are about
 * and a path inside that document. A place that has no line of its own takes its parent's.
 */
export function locateFindings(
  findings: readonly Finding[],
  sources: ReadonlyMap<string, LocatedDocument>,
): Finding[] {
  return findings.map((finding) => {
    const match = PLACE.exec(finding.path);
    const located = match === null ? undefined : sources.get(match[1] ?? "");
    if (match === null || located === undefined) {
      return finding;
    }
    const path = match[2] ?? "";
    return { ...finding, file: located.file, line: lineOf(located.lines, path), path };
  });
}

function lineOf(lines: ReadonlyMap<string, number>, path: string): number {
  for (let at = path; at !== ""; at = parentOf(at)) {
    const line = lines.get(at);
    if (line !== undefined) {
      return line;
    }
  }
  return lines.get("") ?? 1;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("."), path.lastIndexOf("[")));
}
