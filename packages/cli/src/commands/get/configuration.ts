import { formatSelector } from "@ringwall/labels";
import type {
  AddressGroupSpec,
  Configuration,
  EntrySpec,
  InventorySpec,
  RulesetSpec,
  SelectorSpec,
  ServiceSpec,
  Tags,
  TrafficRouteSpec,
} from "@ringwall/render";
import { Command } from "commander";
import { CliError } from "../../errors.ts";
import { effectiveFile } from "../../input/inventory-unit.ts";
import { type LiveTree, readConfiguration } from "../../live/tree.ts";
import { labelText } from "../../output/labels.ts";
import type { Column } from "../../output/table.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";

/** How one kind of unit is listed. */
interface Listing<Spec> {
  readonly name: string;
  readonly summary: string;
  readonly pick: (configuration: Configuration) => readonly Spec[];
  readonly key: (spec: Spec) => string;
  readonly path: (key: string) => string;
  readonly columns: readonly Column<Spec>[];
}

const selector = (spec: SelectorSpec) => formatSelector(spec);
const entryText = ({ protocol, ports }: EntrySpec) =>
  ports === undefined || ports.length === 0 ? protocol : `${protocol}/${ports.join(",")}`;

const RULESETS: Listing<RulesetSpec> = {
  name: "rulesets",
  summary: "rulesets with scope and rules",
  pick: (configuration) => configuration.rulesets,
  key: (spec) => spec.name,
  path: (key) => `policy/ruleset/${key}/ruleset.yaml`,
  columns: [
    { title: "RULESET", cell: (spec) => spec.name },
    { title: "ENABLED", cell: (spec) => (spec.enabled === false ? "no" : "yes") },
    { title: "SCOPE", cell: (spec) => selector(spec.scope) },
    {
      title: "RULES",
      cell: (spec) => spec.rules.map((rule) => rule.name ?? rule.id ?? "unnamed").join(", "),
      flexible: true,
    },
  ],
};

const SERVICES: Listing<ServiceSpec> = {
  name: "services",
  summary: "services with protocols and ports",
  pick: (configuration) => configuration.services,
  key: (spec) => spec.name,
  path: (key) => `policy/service/${key}/service.yaml`,
  columns: [
    { title: "SERVICE", cell: (spec) => spec.name },
    { title: "ENTRIES", cell: (spec) => spec.entries.map(entryText).join(" "), flexible: true },
  ],
};

const GROUPS: Listing<AddressGroupSpec> = {
  name: "groups",
  summary: "address groups",
  pick: (configuration) => configuration.addressGroups,
  key: (spec) => spec.name,
  path: (key) => `policy/address-group/${key}/address-group.yaml`,
  columns: [
    { title: "GROUP", cell: (spec) => spec.name },
    { title: "CIDRS", cell: (spec) => spec.cidrs.join(" "), flexible: true },
  ],
};

const tagText = (tags: Tags) => `{${labelText(tags)}}`;
const routeKey = ({ namespace, name }: TrafficRouteSpec) =>
  namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;

const ROUTES: Listing<TrafficRouteSpec> = {
  name: "routes",
  summary: "traffic routes with sources, destinations and split",
  pick: (configuration) => configuration.routes,
  key: routeKey,
  path: (key) => `policy/traffic-route/${key}/traffic-route.yaml`,
  columns: [
    { title: "ROUTE", cell: routeKey },
    { title: "SOURCES", cell: (spec) => spec.sources.map(tagText).join(" ") },
    { title: "DESTINATIONS", cell: (spec) => spec.destinations.map(tagText).join(" ") },
    {
      title: "SPLIT",
      cell: (spec) => spec.split.map(({ weight, tags }) => `${weight} ${tagText(tags)}`).join(" "),
      flexible: true,
    },
  ],
};

const INVENTORY: Listing<InventorySpec> = {
  name: "inventory",
  summary: "inventory units with labels and modes",
  pick: (configuration) => configuration.inventory,
  key: (spec) => spec.name,
  path: (key) => `policy/inventory/${key}/inventory.yaml`,
  columns: [
    { title: "UNIT", cell: (spec) => spec.name },
    { title: "FOR", cell: (spec) => spec.workload ?? selector(spec.selector ?? {}) },
    { title: "LABELS", cell: (spec) => labelText(spec.labels ?? {}), flexible: true },
    { title: "MODE", cell: (spec) => spec.mode ?? "-" },
  ],
};

/** `ringwall get rulesets|services|groups|routes|inventory`. */
export function getConfigurationCommands(context: CommandContext): Command[] {
  return [
    listingCommand(context, RULESETS),
    listingCommand(context, SERVICES),
    listingCommand(context, GROUPS),
    listingCommand(context, ROUTES),
    listingCommand(context, INVENTORY),
  ];
}

function listingCommand<Spec>(context: CommandContext, listing: Listing<Spec>): Command {
  return new Command(listing.name)
    .summary(listing.summary)
    .description(`Lists ${listing.summary}, as they are in force, with the layer of each.`)
    .argument("[names...]", "only these")
    .action((names: string[], _options: unknown, command: Command) =>
      withSession(context, command, (session) => list(session, listing, names)),
    );
}

async function list<Spec>(
  session: Session,
  listing: Listing<Spec>,
  names: readonly string[],
): Promise<void> {
  const { out } = session;
  const { tree, configuration } = await readConfiguration(await session.operator());
  const all = [...listing.pick(configuration)].sort((a, b) =>
    listing.key(a) < listing.key(b) ? -1 : 1,
  );
  const missing = names.filter((name) => !all.some((spec) => listing.key(spec) === name));
  if (missing.length > 0) {
    throw new CliError("refused", `no such ${listing.name}: ${missing.join(", ")}`, {
      hint: `\`ringwall get ${listing.name}\` lists them`,
    });
  }
  const chosen = all.filter((spec) => names.length === 0 || names.includes(listing.key(spec)));
  const layer = (spec: Spec) => layerOf(tree, listing.path(listing.key(spec)));
  const document = {
    commit: tree.head?.inputs?.configSequence ?? 0n,
    [listing.name]: chosen.map((spec) => ({ ...spec, layer: layer(spec) })),
  };
  out.result(document, () => [
    ...out.table([...listing.columns, { title: "LAYER", cell: layer }], chosen),
    out.paint.dim(`${chosen.length} ${listing.name}`),
  ]);
}

function layerOf(tree: LiveTree, path: string): string {
  const layer = effectiveFile(tree, path)?.layer ?? "-";
  const hidden = tree.files.filter((file) => file.path === path).length > 1;
  return hidden ? `${layer}, hides core` : layer;
}
