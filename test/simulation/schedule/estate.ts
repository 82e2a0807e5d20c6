/** Everything that a simulated estate may contain; small, so that changes meet each other. */
export const WORKLOADS = ["web-1", "web-2", "api-1", "api-2", "db-1", "cache-1"] as const;

/** The environment that every simulated control plane serves. */
export const ENVIRONMENT = "prod";

/** One file of the declared tree. */
export interface EstateFile {
  readonly layer: "core" | "environment";
  readonly path: string;
  /** Undefined: the file is deleted. */
  readonly text: string | undefined;
}

/** What an adapter says of a workload. */
export interface Declaration {
  readonly workload: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Empty: its agent says where it is and what it serves. */
  readonly addresses: readonly string[];
  readonly services: readonly string[];
}

/** What an agent says of its host. */
export interface HostInventory {
  readonly addresses: readonly string[];
  readonly services: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
}

type Choice = <Item>(items: readonly Item[]) => Item;

const ROLES = ["web", "api", "db", "cache"];
const GROUPS = ["office", "partners"];
const CIDRS = ["10.200.0.0/16", "203.0.113.0/24", "203.0.113.9/32", "fd00:200::/48", "10.0.0.0/30"];

/** Addresses that a workload has or may move to. */
export function addressesOf(workload: string, variant: number): readonly string[] {
  const index = WORKLOADS.findIndex((each) => each === workload) + 1;
  switch (variant % 4) {
    case 0:
      return [`10.0.0.${index}`];
    case 1:
      return [`10.0.1.${index}`, `fd00:1::${index}`];
    case 2:
      return [`10.0.0.${index}`, `fd00:2::${index}`];
    default:
      // The neighbour's first address: two claim it for a while.
      return [`10.0.0.${(index % WORKLOADS.length) + 1}`, `10.0.2.${index}`];
  }
}

/** Every source address that a probe of openness asks about. */
export const PROBE_SOURCES: readonly string[] = [
  ...WORKLOADS.flatMap((_, index) => [
    `10.0.0.${index + 1}`,
    `10.0.1.${index + 1}`,
    `10.0.2.${index + 1}`,
    `fd00:1::${index + 1}`,
    `fd00:2::${index + 1}`,
  ]),
  "10.200.3.4",
  "203.0.113.9",
  "203.0.113.77",
  "fd00:200::7",
  "198.51.100.1",
];

/** Every destination port that a probe of openness asks about. */
export const PROBE_PORTS: readonly number[] = [22, 80, 443, 5432, 6379, 8081];

/** The files of the first commit. */
export function firstFiles(): readonly EstateFile[] {
  return [
    serviceFile("https", "443"),
    serviceFile("postgres", "5432"),
    ...GROUPS.map((name) => groupFile(name, [CIDRS[0] ?? ""])),
    rulesetFile("web", ["web"], [{ peer: "group:office", entry: "service:https" }]),
    rulesetFile("api", ["api"], [{ peer: "role:web", entry: "tcp:80,443" }]),
    rulesetFile("db", ["db"], [{ peer: "role:api", entry: "service:postgres" }]),
    modeFile("baseline", undefined, undefined),
  ];
}

/** A change of one file, chosen by chance. */
export function someFile(pick: Choice): EstateFile {
  switch (pick(["ruleset", "ruleset", "ruleset", "group", "mode", "mode", "unit", "route"])) {
    case "group":
      return groupFile(pick(GROUPS), someCidrs(pick));
    case "mode":
      return someModeFile(pick);
    case "unit":
      return someUnit(pick);
    case "route":
      return someRoute(pick);
    default:
      return someRuleset(pick);
  }
}

/** A file that admission refuses. */
export function badFile(pick: Choice): EstateFile {
  return pick([
    rulesetFile("web", ["web"], [{ peer: "group:nobody", entry: "tcp:80" }]),
    rulesetFile("web", ["web"], [{ peer: "cidr:10.0.0.0/99", entry: "tcp:80" }]),
    { layer: "core" as const, path: "policy/ruleset/web/ruleset.yaml", text: "kind: [Ruleset\n" },
    { ...groupFile("office", []), text: undefined },
  ]);
}

/** A declaration of a workload, chosen by chance. */
export function someDeclaration(workload: string, pick: Choice): Declaration {
  const role = pick([workload.slice(0, workload.indexOf("-")), pick(ROLES)]);
  const labels = { role, env: pick(["prod", "prod", "dev"]) };
  if (pick([true, false])) {
    return { workload, labels, addresses: [], services: [] };
  }
  const addresses = addressesOf(workload, pick([0, 1, 2, 3]));
  return { workload, labels, addresses, services: [`shop/${role}`] };
}

/** What a host says of itself, chosen by chance. */
export function someInventory(workload: string, pick: Choice): HostInventory {
  const role = workload.slice(0, workload.indexOf("-"));
  return {
    addresses: addressesOf(workload, pick([0, 0, 1, 2, 3])),
    services: pick([[`shop/${role}`], [`shop/${role}`, "shop/web"], []]),
    annotations: pick([
      {},
      { "endpoint.aether.io/port": "443", "endpoint.aether.io/protocol": "tcp" },
      { "endpoint.aether.io/ports": "8080=h2,9100=tcp", "endpoint.aether.io/weight": "7" },
    ]),
  };
}

function someRuleset(pick: Choice): EstateFile {
  const role = pick(ROLES);
  const scope = pick([[role], [role, pick(ROLES)]]);
  const count = pick([0, 1, 2, 3]);
  const rules = Array.from({ length: count }, () => ({
    peer: pick([
      `role:${pick(ROLES)}`,
      `role:${pick(ROLES)}`,
      `group:${pick(GROUPS)}`,
      `cidr:${pick(CIDRS)}`,
      "env:prod",
    ]),
    entry: pick(["service:https", "service:postgres", "tcp:80", "tcp:22,6379", "udp:443", "icmp"]),
  }));
  const file = rulesetFile(role, scope, rules, pick([true, true, true, false]));
  return pick([file, file, file, file, file, { ...file, text: undefined }]);
}

function someCidrs(pick: Choice): readonly string[] {
  return [...new Set([pick(CIDRS), pick(CIDRS)])];
}

function someModeFile(pick: Choice): EstateFile {
  const mode = pick(["visibility", "simulation", "enforced", "enforced", undefined, undefined]);
  const name = pick(["baseline", ...ROLES]);
  const file = modeFile(name, name === "baseline" ? undefined : name, mode);
  const gone = { ...file, text: undefined };
  return pick([file, file, file, gone, { ...file, layer: "environment" as const }]);
}

function someUnit(pick: Choice): EstateFile {
  const workload = pick(WORKLOADS);
  const mode = pick(["mode: enforced\n", "mode: visibility\n", "", ""]);
  const labels = pick(["", `labels:\n  role: ${pick(ROLES)}\n`, "labels:\n  tier: one\n"]);
  const outbounds = pick(["", `outbounds:\n  - shop/${pick(ROLES)}\n  - shop/${pick(ROLES)}\n`]);
  const text = `kind: Inventory\nname: ${workload}\nworkload: ${workload}\n${labels}${mode}${outbounds}`;
  const path = `policy/inventory/${workload}/inventory.yaml`;
  return { layer: "core", path, text: pick([text, text, text, undefined]) };
}

function someRoute(pick: Choice): EstateFile {
  const role = pick(ROLES);
  const path = `policy/traffic-route/shop/${role}-split/traffic-route.yaml`;
  const first = pick([0, 10, 50]);
  const text = `kind: TrafficRoute
namespace: shop
name: ${role}-split
sources:
  - service: "*"
destinations:
  - service: shop/${role}
split:
  - weight: ${first}
    tags:
      service: shop/${role}
      env: prod
  - weight: ${100 - first}
    tags:
      service: shop/${role}
`;
  return { layer: "core", path, text: pick([text, text, undefined]) };
}

function serviceFile(name: string, port: string): EstateFile {
  const text = `kind: Service\nname: ${name}\nentries:\n  - protocol: tcp\n    ports: ["${port}"]\n`;
  return { layer: "core", path: `policy/service/${name}/service.yaml`, text };
}

function groupFile(name: string, cidrs: readonly string[]): EstateFile {
  const lines = cidrs.map((cidr) => `  - "${cidr}"\n`).join("");
  const text = `kind: AddressGroup\nname: ${name}\ncidrs:\n${lines}`;
  return { layer: "core", path: `policy/address-group/${name}/address-group.yaml`, text };
}

function modeFile(name: string, role: string | undefined, mode: string | undefined): EstateFile {
  const selector = role === undefined ? "  env: [prod, dev]\n" : `  role: [${role}]\n`;
  const modeLine = mode === undefined ? "labels:\n  seen: x\n" : `mode: ${mode}\n`;
  const text = `kind: Inventory\nname: ${name}\nselector:\n${selector}${modeLine}`;
  return { layer: "core", path: `policy/inventory/${name}/inventory.yaml`, text };
}

interface RuleText {
  readonly peer: string;
  readonly entry: string;
}

function rulesetFile(
  name: string,
  scope: readonly string[],
  rules: readonly RuleText[],
  enabled = true,
): EstateFile {
  const lines = rules.map(
    ({ peer, entry }, index) =>
      `  - name: r${index}\n    peers:\n      - ${peerText(peer)}\n${entryText(entry)}`,
  );
  const list = lines.length === 0 ? "rules: []\n" : `rules:\n${lines.join("")}`;
  const roles = [...new Set(scope)].join(", ");
  const text = `kind: Ruleset\nname: ${name}\nenabled: ${enabled}\nscope:\n  role: [${roles}]\n${list}`;
  return { layer: "core", path: `policy/ruleset/${name}/ruleset.yaml`, text };
}

function peerText(peer: string): string {
  const colon = peer.indexOf(":");
  const value = peer.slice(colon + 1);
  switch (peer.slice(0, colon)) {
    case "group":
      return `addressGroup: ${value}`;
    case "cidr":
      return `cidr: "${value}"`;
    case "env":
      return `workloads:\n          env: [${value}]`;
    default:
      return `workloads:\n          role: [${value}]`;
  }
}

function entryText(entry: string): string {
  const [protocol, ports] = entry.split(":");
  if (protocol === "service") {
    return `    services: [${ports}]\n`;
  }
  const list = ports === undefined ? "" : `        ports: [${portList(ports)}]\n`;
  return `    entries:\n      - protocol: ${protocol}\n${list}`;
}

function portList(ports: string): string {
  return ports
    .split(",")
    .map((port) => `"${port}"`)
    .join(", ");
}
