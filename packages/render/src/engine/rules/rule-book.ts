import type { EntrySpec, RulesetSpec } from "../../model.ts";
import type { LabelIndex } from "../labels/label-index.ts";
import type { PeerSources } from "../peers/peer-sources.ts";
import { Ids } from "../store/ids.ts";
import { Links } from "../store/links.ts";
import { planRules, type Ruleset } from "./ruleset.ts";

/** The enabled rulesets and the services that they name. */
export class RuleBook {
  readonly #labels: LabelIndex;
  readonly #sources: PeerSources;
  readonly #ids = new Ids();
  readonly #byName = new Map<string, Ruleset>();
  readonly #byIndex: (Ruleset | undefined)[] = [];
  readonly #byScope = new Links();
  readonly #bySource = new Links();
  readonly #services = new Map<string, readonly EntrySpec[]>();
  /** Rulesets, enabled or not, by the services that they name. */
  readonly #users = new Map<string, Set<string>>();
  readonly #specs = new Map<string, RulesetSpec>();
  /** Rulesets that are no longer in force but may be part of bodies until the next flush. */
  #retired: Ruleset[] = [];
  /** Scopes of rulesets that came, went or changed, until they are taken. */
  #touchedScopes = new Set<number>();

  constructor(labels: LabelIndex, sources: PeerSources) {
    this.#labels = labels;
    this.#sources = sources;
  }

  ruleset(index: number): Ruleset | undefined {
    return this.#byIndex[index];
  }

  /** Number of rulesets with this scope. */
  countOfScope(selector: number): number {
    return this.#byScope.countOfLeft(selector);
  }

  ofScopeAt(selector: number, index: number): number {
    return this.#byScope.rightAt(selector, index);
  }

  /** Number of rules with this source, counted once per rule and protocol. */
  countOfSource(source: number): number {
    return this.#bySource.countOfLeft(source);
  }

  /** Ruleset of one of them. */
  ofSourceAt(source: number, index: number): number {
    return this.#bySource.rightAt(source, index);
  }

  /** Adds or replaces a ruleset. */
  put(spec: RulesetSpec): void {
    this.remove(spec.name);
    this.#specs.set(spec.name, spec);
    for (const service of servicesOf(spec)) {
      const users = this.#users.get(service);
      if (users === undefined) {
        this.#users.set(service, new Set([spec.name]));
      } else {
        users.add(spec.name);
      }
    }
    this.#plan(spec);
  }

  /** Removes a ruleset; an unknown one is fine. */
  remove(name: string): void {
    const spec = this.#specs.get(name);
    if (spec === undefined) {
      return;
    }
    this.#specs.delete(name);
    for (const service of servicesOf(spec)) {
      const users = this.#users.get(service);
      users?.delete(name);
      if (users?.size === 0) {
        this.#users.delete(service);
      }
    }
    this.#retire(name);
  }

  /** Defines a service, or takes its definition back. Rulesets that name it are planned anew. */
  defineService(name: string, entries: readonly EntrySpec[] | undefined): void {
    if (entries === undefined) {
      this.#services.delete(name);
    } else {
      this.#services.set(name, entries);
    }
    for (const user of this.#users.get(name) ?? []) {
      const spec = this.#specs.get(user);
      if (spec !== undefined) {
        this.#retire(user);
        this.#plan(spec);
      }
    }
  }

  /** Scopes of rulesets that came, went or changed since this was asked last. */
  takeTouchedScopes(): Iterable<number> {
    const touched = this.#touchedScopes;
    this.#touchedScopes = new Set();
    return touched;
  }

  /** Forgets rulesets that are no longer in force. */
  sweep(): void {
    for (const { index, scope, rules } of this.#retired) {
      this.#bySource.dropRight(index);
      for (const { source } of rules) {
        this.#sources.release(source);
      }
      this.#labels.releaseSelector(scope);
      this.#byIndex[index] = undefined;
      this.#ids.give(index);
    }
    this.#retired = [];
  }

  #plan(spec: RulesetSpec): void {
    if (spec.enabled === false) {
      return;
    }
    const ruleset = {
      index: this.#ids.take(),
      spec,
      scope: this.#labels.holdSelector(spec.scope),
      rules: planRules(spec, this.#services, this.#sources),
    };
    this.#byName.set(spec.name, ruleset);
    this.#byIndex[ruleset.index] = ruleset;
    this.#byScope.link(ruleset.scope, ruleset.index);
    for (const { source } of ruleset.rules) {
      this.#bySource.link(source, ruleset.index);
    }
    this.#touchedScopes.add(ruleset.scope);
  }

  #retire(name: string): void {
    const ruleset = this.#byName.get(name);
    if (ruleset !== undefined) {
      this.#byName.delete(name);
      this.#byScope.dropRight(ruleset.index);
      this.#touchedScopes.add(ruleset.scope);
      this.#retired.push(ruleset);
    }
  }
}

function servicesOf({ rules }: RulesetSpec): Iterable<string> {
  return new Set(rules.flatMap(({ services = [] }) => services));
}
