import { document } from "../../chaos/lab/estate.ts";
import type { Document, Reported } from "../../chaos/lab/operator.ts";
import { agentId } from "./protocol.ts";

/** Groups of agents with a policy of their own, as applications are. */
const APPS = 100;
const PEERS_PER_APP = 20;

/** Agents of a hundred applications, all enforced; one group of networks is let in everywhere. */
export function reported(agents: number): readonly Reported[] {
  return Array.from({ length: agents }, (_, index) => ({
    id: agentId(index),
    labels: { fleet: "all", app: `app-${index % APPS}`, ...(index === 0 ? { alone: "yes" } : {}) },
    addresses: [`10.${100 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`],
  }));
}

/** The tree before anything is measured. */
export function tree(): readonly Document[] {
  return [
    group("everywhere", 0),
    group("alone", 0),
    ruleset("everywhere", { fleet: ["all"] }, { addressGroup: "everywhere" }, 9100),
    ruleset("alone", { alone: ["yes"] }, { addressGroup: "alone" }, 9200),
    ...Array.from({ length: APPS }, (_, app) => appRuleset(app)),
    document("inventory", "enforced", {
      kind: "Inventory",
      selector: { fleet: ["all"] },
      mode: "enforced",
    }),
  ];
}

/** A group with another network in each round; whoever lets it in is affected. */
export function group(name: "everywhere" | "alone", round: number): Document {
  const cidrs = ["10.250.0.0/16", `10.251.${(round >> 8) & 255}.${round & 255}/32`];
  return document("address-group", name, { kind: "AddressGroup", cidrs });
}

function appRuleset(app: number): Document {
  const rules = [
    {
      name: "in",
      peers: Array.from({ length: PEERS_PER_APP }, (_, index) => ({
        cidr: `10.240.${app}.${index}/32`,
      })),
      entries: [{ protocol: "tcp", ports: ["443"] }],
    },
  ];
  const body = { kind: "Ruleset", scope: { app: [`app-${app}`] }, rules };
  return document("ruleset", `app-${app}`, body);
}

function ruleset(name: string, scope: object, peer: object, port: number): Document {
  const rules = [
    { name: "in", peers: [peer], entries: [{ protocol: "tcp", ports: [String(port)] }] },
  ];
  return document("ruleset", name, { kind: "Ruleset", scope, rules });
}
