import { validateRoute } from "@ringwall/routes";
import { assembleConfiguration, locateFindings } from "../documents/assemble.ts";
import { DOCUMENT_TYPES, POLICY_MODULE } from "../documents/document.ts";
import type { TreeReading } from "../documents/policy-tree.ts";
import type { LocatedDocument } from "../documents/read-document.ts";
import { type Finding, sortFindings } from "../finding.ts";
import type { Configuration, TrafficRouteSpec } from "../model.ts";
import { checkAlertSinks } from "./alert-sinks.ts";
import { checkEntries } from "./entries.ts";
import { checkName } from "./grammar.ts";
import { checkInventory } from "./inventory.ts";
import type { Note } from "./note.ts";
import { checkCidr, checkRuleset } from "./ruleset.ts";

/** Options of `admit`. */
export interface AdmitOptions {
  /** Begin paths with the list even if there is one ruleset only; default false. */
  readonly fullPaths?: boolean;
  /** Tree paths of documents that can't be read: what they would name is not called unknown. */
  readonly unreadable?: ReadonlySet<string>;
}

/**
 * Checks a whole configuration and returns every finding, sorted by path and rule; none means that
 * it is admitted. Paths begin with the list (`services[0]`, `routes[2]`, `inventory[1]`); those of a
 * ruleset are relative to it when there is exactly one.
 */
export function admit(configuration: Configuration, options: AdmitOptions = {}): Finding[] {
  const findings: Finding[] = [];
  const note: Note = (path, rule, message) => {
    findings.push({ path, rule, message });
  };
  const { rulesets, services, addressGroups, routes, inventory, alertSinks = [] } = configuration;
  const known = {
    hasService: nameTest("Service", services, options.unreadable),
    hasAddressGroup: nameTest("AddressGroup", addressGroups, options.unreadable),
  };
  const prefixOf = (index: number) =>
    rulesets.length === 1 && !options.fullPaths ? "" : `rulesets[${index}]`;
  const seenIds = new Map<string, string>();
  rulesets.forEach((ruleset, index) => {
    checkRuleset(ruleset, prefixOf(index), known, seenIds, note);
  });
  services.forEach((service, index) => {
    const prefix = `services[${index}]`;
    checkName(service.name, `${prefix}.name`, note);
    if (service.entries.length === 0) {
      note(`${prefix}.entries`, "entries-required", "a service has at least one entry");
    }
    checkEntries(service.entries, `${prefix}.entries`, note);
  });
  addressGroups.forEach((group, index) => {
    const prefix = `addressGroups[${index}]`;
    checkName(group.name, `${prefix}.name`, note);
    if (group.cidrs.length === 0) {
      note(`${prefix}.cidrs`, "cidrs-required", "an address group has at least one prefix");
    }
    group.cidrs.forEach((cidr, position) => {
      checkCidr(cidr, `${prefix}.cidrs[${position}]`, note);
    });
  });
  routes.forEach((route, index) => {
    checkRoute(route, `routes[${index}]`, note);
  });
  checkInventory(inventory, note);
  checkAlertSinks(alertSinks, note);
  checkDuplicates("rulesets", rulesets, note);
  checkDuplicates("services", services, note);
  checkDuplicates("addressGroups", addressGroups, note);
  checkDuplicates("routes", routes, note);
  checkDuplicates("inventory", inventory, note);
  checkDuplicates("alertSinks", alertSinks, note);
  return sortFindings(findings);
}

/** Every finding of a tree: of its documents and of admission, with file, line and path. */
export function admitTree(tree: TreeReading): Finding[] {
  const found = admit(tree.configuration, { fullPaths: true, unreadable: tree.unreadable });
  return sortFindings([...tree.findings, ...locateFindings(found, tree.sources)]);
}

/** Every finding of loose documents, such as the files given to one apply. */
export function admitDocuments(documents: readonly LocatedDocument[]): Finding[] {
  const { configuration, sources } = assembleConfiguration(documents);
  return sortFindings(locateFindings(admit(configuration, { fullPaths: true }), sources));
}

function nameTest(
  kind: "Service" | "AddressGroup",
  specs: readonly { readonly name: string }[],
  unreadable: ReadonlySet<string> = new Set(),
): (name: string) => boolean {
  const names = new Set(specs.map(({ name }) => name));
  const type = DOCUMENT_TYPES[kind];
  return (name) =>
    name !== "" &&
    (names.has(name) || unreadable.has(`${POLICY_MODULE}/${type}/${name}/${type}.yaml`));
}

function checkRoute(route: TrafficRouteSpec, prefix: string, note: Note): void {
  checkName(route.name, `${prefix}.name`, note);
  if (route.namespace) {
    checkName(route.namespace, `${prefix}.namespace`, note);
  }
  for (const { path, code, message } of validateRoute(route)) {
    note(path === "" ? prefix : `${prefix}.${path}`, code, message);
  }
}

interface Named {
  readonly mesh?: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Two documents of one kind and name; a route's name includes its namespace. */
function checkDuplicates(list: string, specs: readonly Named[], note: Note): void {
  const first = new Map<string, number>();
  specs.forEach(({ namespace = "", name }, index) => {
    const key = `${namespace}/${name}`;
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, index);
    } else if (name !== "") {
      const message = `name "${name}" is used twice (${list}[${before}]); keep one`;
      note(`${list}[${index}].name`, "duplicate-name", message);
    }
  });
}
