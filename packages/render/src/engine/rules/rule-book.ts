import type { EntrySpec, RulesetSpec } from "../../model.ts";
import { fixedBytesOfRules } from "../bodies/sizes.ts";
import type { LabelIndex } from "../labels/label-index.ts";
import type { PeerSources } from "../peers/peer-sources.ts";
import { Ids } from "../store/ids.ts";
import { Links } from "../store/links.ts";
import { Marks } from "../store/marks.ts";
import { TextIds } from "../store/text-ids.ts";
import { PortCache } from "./port-cache.ts";
import { type PlanBase, planRules, type Ruleset } from "./ruleset.ts";

/** Characters of a ruleset's name that are hashed. */
const NAME_LENGTH = 128;
/** What is found for a name that no ruleset has. */
const NO_UNIT = -1;

/** The enabled rulesets and the services that they name. */
export class RuleBook {
  readonly #labels: LabelIndex;
  readonly #sources: PeerSources;
  readonly #ids = new Ids();
  readonly #plans: PlanBase;
  /** Rulesets, enabled or not, by name; a disabled one is planned as undefined. */
  readonly #unitIds = new Ids();
  readonly #specs: (RulesetSpec | undefined)[] = [];
  readonly #planned: (Ruleset | undefined)[] = [];
  readonly #byName = new TextIds({
    textOf: (unit) => this.#specs[unit]?.name,
    hashed: NAME_LENGTH,
  });
  readonly #byIndex: (Ruleset | undefined)[] = [];
  readonly #byScope = new Links();
  readonly #bySource = new Links();
  readonly #services = new Map<string, readonly EntrySpec[]>();
  /** Rulesets, enabled or not, by the services that they name. */
  readonly #users = new Map<string, Set<string>>();
  /** Rulesets that are no longer in force but may be part of bodies until the next flush. */
  #retired: Ruleset[] = [];
  /** Scopes of rulesets that came, went or changed, until they are taken. */
  #touchedScopes: number[] = [];
  readonly #isTouched = new Marks();

  constructor(labels: LabelIndex, sources: PeerSources) {
    this.#labels = labels;
    this.#sources = sources;
    this.#plans = { services: this.#services, sources, ports: new PortCache() };
  }

  /** Makes room for so many rulesets, known beforehand. */
  reserve(rulesets: number): void {
    this.#byName.reserve(rulesets);
    this.#byScope.reserve(2 * rulesets, rulesets, rulesets);
    this.#bySource.reserve(rulesets, rulesets, rulesets);
    for (const list of [this.#specs, this.#planned, this.#byIndex]) {
      list.length = Math.max(list.length, rulesets);
    }
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
    for (const service of servicesOf(spec)) {
      const users = this.#users.get(service);
      if (users === undefined) {
        this.#users.set(service, new Set([spec.name]));
      } else {
        users.add(spec.name);
      }
    }
    const unit = this.#unitIds.take();
    this.#specs[unit] = spec;
    this.#byName.add(spec.name, unit);
    this.#planned[unit] = this.#plan(spec);
  }

  /** Removes a ruleset; an unknown one is fine. */
  remove(name: string): void {
    const unit = this.#byName.find(name);
    const spec = this.#specs[unit];
    if (unit === NO_UNIT || spec === undefined) {
      return;
    }
    for (const service of servicesOf(spec)) {
      const users = this.#users.get(service);
      users?.delete(name);
      if (users?.size === 0) {
        this.#users.delete(service);
      }
    }
    this.#retire(this.#planned[unit]);
    this.#byName.remove(name, unit);
    this.#specs[unit] = undefined;
    this.#planned[unit] = undefined;
    this.#unitIds.give(unit);
  }

  /** Defines a service, or takes its definition back. Rulesets that name it are planned anew. */
  defineService(name: string, entries: readonly EntrySpec[] | undefined): void {
    if (entries === undefined) {
      this.#services.delete(name);
    } else {
      this.#services.set(name, entries);
    }
    for (const user of this.#users.get(name) ?? []) {
      const unit = this.#byName.find(user);
      const spec = this.#specs[unit];
      if (spec !== undefined) {
        this.#retire(this.#planned[unit]);
        this.#planned[unit] = this.#plan(spec);
      }
    }
  }

  /** Scopes of rulesets that came, went or changed since this was asked last. */
  takeTouchedScopes(): readonly number[] {
    const touched = this.#touchedScopes;
    this.#touchedScopes = [];
    this.#isTouched.clear();
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

  #plan(spec: RulesetSpec): Ruleset | undefined {
    if (spec.enabled === false) {
      return undefined;
    }
    const rules = planRules(spec, this.#plans);
    const ruleset = {
      index: this.#ids.take(),
      spec,
      scope: this.#labels.holdSelector(spec.scope),
      rules,
      fixedBytes: fixedBytesOfRules(rules),
    };
    this.#byIndex[ruleset.index] = ruleset;
    this.#byScope.link(ruleset.scope, ruleset.index);
    for (const { source } of ruleset.rules) {
      this.#bySource.link(source, ruleset.index);
    }
    this.#touchScope(ruleset.scope);
    return ruleset;
  }

  #retire(ruleset: Ruleset | undefined): void {
    if (ruleset !== undefined) {
      this.#byScope.dropRight(ruleset.index);
      this.#touchScope(ruleset.scope);
      this.#retired.push(ruleset);
    }
  }

  #touchScope(scope: number): void {
    if (this.#isTouched.add(scope)) {
      this.#touchedScopes.push(scope);
    }
  }
}

const NO_SERVICES: ReadonlySet<string> = new Set();

function servicesOf({ rules }: RulesetSpec): ReadonlySet<string> {
  return rules.some(({ services }) => services !== undefined && services.length > 0)
    ? new Set(rules.flatMap(({ services = [] }) => services))
    : NO_SERVICES;
}
