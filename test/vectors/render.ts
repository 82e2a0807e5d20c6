import {
  type AddressGroupSpec,
  admit,
  type Configuration,
  type InventorySpec,
  type ModeName,
  type RulesetSpec,
  renderAll,
  type ServiceSpec,
  type WorkloadSpec,
} from "@ringwall/render";
import { bind, type Family } from "./family.ts";
import { policyJson } from "./rendered.ts";

interface Documents {
  readonly rulesets?: readonly RulesetSpec[];
  readonly services?: readonly ServiceSpec[];
  readonly addressGroups?: readonly AddressGroupSpec[];
}

interface Workload {
  readonly id: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly addresses?: readonly string[];
  readonly mode?: string;
}

const MODES: ReadonlyMap<string, ModeName> = new Map([
  ["ENFORCEMENT_MODE_VISIBILITY", "visibility"],
  ["ENFORCEMENT_MODE_SIMULATION", "simulation"],
  ["ENFORCEMENT_MODE_ENFORCED", "enforced"],
]);

function configurationOf(documents: Documents, inventory: readonly InventorySpec[]): Configuration {
  const { rulesets = [], services = [], addressGroups = [] } = documents;
  return { rulesets, services, addressGroups, routes: [], inventory };
}

/** The mode of a vector's workload is set where people set it: by its own inventory unit. */
function inventoryOf({ id, mode }: Workload): InventorySpec[] {
  const name = mode === undefined ? undefined : MODES.get(mode);
  return name === undefined ? [] : [{ name: id, workload: id, mode: name }];
}

function workloadOf({ id, labels = {}, addresses = [] }: Workload): WorkloadSpec {
  return { id, labels, addresses, rows: [], outbounds: [], presence: "live", enforced: false };
}

function policies(input: Documents & { readonly workloads: readonly Workload[] }) {
  const configuration = configurationOf(input, input.workloads.flatMap(inventoryOf));
  const rendered = [...renderAll(configuration, input.workloads.map(workloadOf))];
  return Object.fromEntries(
    rendered.map(([id, outcome]) => [
      id,
      "policy" in outcome ? policyJson(outcome.policy) : { refused: outcome.refused },
    ]),
  );
}

/** `render.*`, bound to @ringwall/render. */
export const render: Family = {
  policies: bind(policies),
  admit: bind((input: Documents) =>
    admit(configurationOf(input, [])).map(({ path, rule }) => ({ path, rule })),
  ),
};
