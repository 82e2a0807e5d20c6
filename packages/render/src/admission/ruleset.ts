import { isCidr } from "../cidr.ts";
import { LIMITS } from "../limits.ts";
import type { PeerSpec, RuleSpec, RulesetSpec } from "../model.ts";
import { authoredRuleId } from "../rule-id.ts";
import { checkEntries } from "./entries.ts";
import { checkName, checkSelector } from "./grammar.ts";
import { below, type Note } from "./note.ts";

/** What rules may refer to. */
export interface KnownNames {
  readonly hasService: (name: string) => boolean;
  readonly hasAddressGroup: (name: string) => boolean;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Checks one ruleset. `seenIds` maps every rule id so far to where it stands. */
export function checkRuleset(
  ruleset: RulesetSpec,
  prefix: string,
  known: KnownNames,
  seenIds: Map<string, string>,
  note: Note,
): void {
  checkName(ruleset.name, below(prefix, "name"), note);
  checkSelector(ruleset.scope, below(prefix, "scope"), note);
  if (ruleset.rules.length > LIMITS.rulesPerRuleset) {
    const message = `${ruleset.rules.length} rules, allowed are ${LIMITS.rulesPerRuleset}`;
    note(below(prefix, "rules"), "limit", `${message}; split the ruleset`);
  }
  ruleset.rules.forEach((rule, index) => {
    const path = below(prefix, `rules[${index}]`);
    checkRule(rule, path, known, note);
    checkRuleId(ruleset.name, rule, path, seenIds, note);
  });
}

function checkRule(rule: RuleSpec, path: string, known: KnownNames, note: Note): void {
  checkDirection(rule.direction, `${path}.direction`, note);
  if (rule.peers.length === 0) {
    note(
      `${path}.peers`,
      "peers-required",
      "a rule without peers allows nobody; name at least one",
    );
  }
  rule.peers.forEach((peer, index) => {
    checkPeer(peer, `${path}.peers[${index}]`, known, note);
  });
  const services = rule.services ?? [];
  const entries = rule.entries ?? [];
  if (services.length === 0 && entries.length === 0) {
    note(`${path}.services`, "services-required", "name a service or write an entry");
  }
  services.forEach((name, index) => {
    if (!known.hasService(name)) {
      note(`${path}.services[${index}]`, "service-unknown", `there is no service "${name}"`);
    }
  });
  checkEntries(entries, `${path}.entries`, note);
}

function checkDirection(direction: string | undefined, path: string, note: Note): void {
  const name = direction?.trim().toLowerCase();
  if (name === "") {
    note(path, "direction-required", "the direction is empty; write inbound");
  } else if (name === "outbound") {
    note(path, "direction-outbound", "outbound rules are not supported; write inbound");
  } else if (name !== undefined && name !== "inbound") {
    note(path, "direction", `direction "${direction}" is not known; write inbound`);
  }
}

function checkPeer(peer: PeerSpec, path: string, known: KnownNames, note: Note): void {
  const { workloads, addressGroup, cidr } = peer;
  const named = [workloads, addressGroup, cidr].filter((member) => member !== undefined).length;
  if (named !== 1) {
    const message = `a peer is exactly one of workloads, addressGroup and cidr, this one ${named}`;
    note(path, "peer-shape", message);
    return;
  }
  if (workloads !== undefined) {
    checkSelector(workloads, `${path}.workloads`, note);
  }
  if (addressGroup !== undefined && !known.hasAddressGroup(addressGroup)) {
    const message = `there is no address group "${addressGroup}"`;
    note(`${path}.addressGroup`, "address-group-unknown", message);
  }
  if (cidr !== undefined) {
    checkCidr(cidr, `${path}.cidr`, note);
  }
}

/** Checks a prefix such as `10.0.0.0/8`. */
export function checkCidr(text: string, path: string, note: Note): void {
  if (!isCidr(text)) {
    note(path, "cidr", `"${text}" is no prefix; write one such as 10.0.0.0/8 or 10.0.0.1/32`);
  }
}

function checkRuleId(
  ruleset: string,
  rule: RuleSpec,
  path: string,
  seenIds: Map<string, string>,
  note: Note,
): void {
  if (rule.id !== undefined && !UUID.test(rule.id)) {
    note(`${path}.id`, "id", `"${rule.id}" is no UUID; write one or leave the id out`);
  }
  const id = authoredRuleId(ruleset, rule).toLowerCase();
  const first = seenIds.get(id);
  if (first === undefined) {
    seenIds.set(id, path);
    return;
  }
  const hint = rule.id ? "give each its own id" : "give each its own name";
  const same = rule.id ? "has the same id" : rule.name ? "has the same name" : "is the same";
  note(`${path}.id`, "rule-id-duplicate", `the rule at ${first} ${same}; ${hint}`);
}
