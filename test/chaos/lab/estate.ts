import { readTree, type WorkloadSpec } from "@ringwall/render";
import { renderByDefinition } from "../../oracle/render.ts";
import type { Document, Reported } from "./operator.ts";

const CLIENTS = 8;
const SHARDS = 4;
/** Most networks of the group that changes; the oldest leaves. */
const PARTNERS = 40;

/** A change of the estate: what to tell the control plane, and what it means once it is acknowledged. */
export type Change =
  | { readonly kind: "commit"; readonly document: Document; readonly partners: readonly string[] }
  | { readonly kind: "report"; readonly workload: Reported };

/**
 * What is declared: agents that are all enforced and let in a group of networks (changed by commits)
 * and a few clients (changed by registrations). It knows what was acknowledged, and so what every
 * agent must have in the end.
 */
export class Estate {
  readonly agents: readonly string[];
  /** Every peer that was ever declared or about to be: no host may let in anything else. */
  readonly ever = new Set<string>();
  readonly #clients = new Map<string, Reported>();
  #partners: readonly string[] = ["10.200.255.0/24"];
  #changes = 0;

  constructor(agents: number) {
    this.agents = Array.from({ length: agents }, (_, index) => `g-${index}`);
    for (let index = 0; index < CLIENTS; index += 1) {
      const client = clientOf(index, `10.202.0.${index + 1}`);
      this.#clients.set(client.id, client);
      this.#declare(...client.addresses);
    }
    this.#declare(...this.#partners, ...shardPeers());
  }

  /** All files of the tree as it was acknowledged. */
  documents(): readonly Document[] {
    return [...FIXED, partnersDocument(this.#partners)];
  }

  /** All workloads as they were acknowledged. */
  reported(): readonly Reported[] {
    return [...this.agents.map((id) => agentOf(id)), ...this.#clients.values()];
  }

  /** The next change: commits and registrations in turn. */
  next(): Change {
    const index = this.#changes++;
    const [high, low] = [(index >> 8) & 255, index & 255];
    if (index % 2 === 0) {
      const partners = [...this.#partners, `10.200.${high}.${low}/32`].slice(-PARTNERS);
      this.#declare(...partners);
      return { kind: "commit", document: partnersDocument(partners), partners };
    }
    const workload = clientOf((index >> 1) % CLIENTS, `10.201.${high}.${low}`);
    this.#declare(...workload.addresses);
    return { kind: "report", workload };
  }

  /** The change was acknowledged. */
  acknowledged(change: Change): void {
    if (change.kind === "commit") this.#partners = change.partners;
    else this.#clients.set(change.workload.id, change.workload);
  }

  /** Number of the newest change, so that messages of commits are unique. */
  get changes(): number {
    return this.#changes;
  }

  /** The digest that each agent's body must have, straight from the definitions. */
  expected(): ReadonlyMap<string, string> {
    const files = this.documents().map((document) => ({ layer: "core" as const, ...document }));
    const { configuration, findings } = readTree(files);
    if (findings.length > 0) throw new Error(`estate: ${findings[0]?.message}`);
    // Agents of a shard differ in nothing but their names: one of each is rendered.
    const shown = this.agents.slice(0, SHARDS).map((id) => agentOf(id));
    const workloads = [...shown, ...this.#clients.values()].map(spec);
    const { bodies } = renderByDefinition(configuration, workloads);
    return new Map(
      this.agents.map((agent, index) => {
        const body = bodies.get(`g-${index % SHARDS}`);
        if (body?.mode !== "enforced") throw new Error(`estate: ${agent} is not enforced`);
        return [agent, body.digest];
      }),
    );
  }

  #declare(...peers: readonly string[]): void {
    for (const peer of peers) this.ever.add(peer.includes("/") ? peer : `${peer}/32`);
  }
}

const FIXED: readonly Document[] = [
  document("ruleset", "guarded", {
    kind: "Ruleset",
    scope: { app: ["guarded"] },
    rules: [
      {
        name: "in",
        peers: [{ workloads: { role: ["client"] } }, { addressGroup: "partners" }],
        entries: [{ protocol: "tcp", ports: ["443"] }],
      },
    ],
  }),
  ...Array.from({ length: SHARDS }, (_, shard) =>
    document("ruleset", `shard-${shard}`, {
      kind: "Ruleset",
      scope: { shard: [`s${shard}`] },
      rules: [{ name: "ops", peers: [{ cidr: shardPeer(shard) }], entries: [{ protocol: "udp" }] }],
    }),
  ),
  document("inventory", "enforced", {
    kind: "Inventory",
    selector: { app: ["guarded"] },
    mode: "enforced",
  }),
];

function partnersDocument(cidrs: readonly string[]): Document {
  return document("address-group", "partners", { kind: "AddressGroup", cidrs });
}

/** A document in JSON, which is YAML too. */
export function document(type: string, name: string, body: object): Document {
  const text = JSON.stringify({ name, ...body });
  return { path: `policy/${type}/${name}/${type}.yaml`, text };
}

function agentOf(id: string): Reported {
  const index = Number(id.slice("g-".length));
  const labels = { app: "guarded", shard: `s${index % SHARDS}` };
  return { id, labels, addresses: [`10.210.${index >> 8}.${index & 255}`] };
}

function clientOf(index: number, address: string): Reported {
  return { id: `c-${index}`, labels: { role: "client" }, addresses: [address] };
}

function shardPeer(shard: number): string {
  return `10.203.${shard}.0/24`;
}

function shardPeers(): readonly string[] {
  return Array.from({ length: SHARDS }, (_, shard) => shardPeer(shard));
}

function spec({ id, labels, addresses }: Reported): WorkloadSpec {
  return { id, labels, addresses, rows: [], outbounds: [], presence: "live", enforced: false };
}
