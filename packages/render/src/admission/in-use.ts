import { type Finding, sortFindings } from "../finding.ts";
import type { Configuration } from "../model.ts";

/**
 * Services and address groups of `before` that `after` lacks although its rules name them: the
 * finding stands at what was taken away and says who uses it.
 */
export function findInUse(before: Configuration, after: Configuration): Finding[] {
  const services = gone(before.services, after.services);
  const groups = gone(before.addressGroups, after.addressGroups);
  const findings = new Map<string, Finding>();
  const note = (list: string, index: number | undefined, name: string, user: string) => {
    const path = `${list}[${index}]`;
    if (index !== undefined && !findings.has(path)) {
      const message = `"${name}" is used by ${user}; change that first`;
      findings.set(path, { path, rule: "in-use", message });
    }
  };
  for (const ruleset of after.rulesets) {
    ruleset.rules.forEach((rule, position) => {
      const user = `ruleset "${ruleset.name}", rules[${position}]`;
      for (const name of rule.services ?? []) {
        note("services", services.get(name), name, user);
      }
      for (const { addressGroup } of rule.peers) {
        if (addressGroup !== undefined) {
          note("addressGroups", groups.get(addressGroup), addressGroup, user);
        }
      }
    });
  }
  return sortFindings([...findings.values()]);
}

/** Names that only `before` has, with their position there. */
function gone(before: readonly { name: string }[], after: readonly { name: string }[]) {
  const kept = new Set(after.map(({ name }) => name));
  return new Map(
    before.flatMap(({ name }, index) => (kept.has(name) ? [] : [[name, index] as const])),
  );
}
