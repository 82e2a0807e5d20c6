import { authoredRuleId, type Configuration } from "@ringwall/render";

/** Rule ids to `<ruleset>/<rule>`, so that people read names where policies carry ids. */
export function ruleNames(configuration: Configuration): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const ruleset of configuration.rulesets) {
    ruleset.rules.forEach((rule, index) => {
      const name = rule.name ?? `rules[${index}]`;
      names.set(authoredRuleId(ruleset.name, rule), `${ruleset.name}/${name}`);
    });
  }
  return names;
}

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;

/** Puts the names into a text that holds rule ids; unknown ids stay. */
export function withRuleNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(UUID, (id) => names.get(id.toLowerCase()) ?? names.get(id) ?? id);
}
