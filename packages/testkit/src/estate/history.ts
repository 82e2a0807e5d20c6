import type { Configuration, SourceChange, WorkloadSpec } from "@ringwall/render";
import { Chance } from "./chance.ts";
import {
  GROUP_NAMES,
  type Pool,
  poolOf,
  ROUTE_NAMES,
  RULESET_NAMES,
  randomGroup,
  randomLabels,
  randomRoute,
  randomRow,
  randomRuleset,
  randomService,
  randomUnit,
  randomWorkload,
  SERVICE_NAMES,
  UNIT_NAMES,
} from "./small-estate.ts";

type Lists = { -readonly [List in keyof Configuration]: Configuration[List] };

/** A small estate that changes at random: workloads come, go and change, units are edited. */
export class HistoryWriter {
  readonly #chance: Chance;
  readonly #pool: Pool;
  readonly #workloads = new Map<string, WorkloadSpec>();
  #configuration: Configuration = {
    rulesets: [],
    services: [],
    addressGroups: [],
    routes: [],
    inventory: [],
  };

  /** At most so many workloads, 8 by default. */
  constructor(seed: number, workloads = 8) {
    this.#chance = new Chance(seed);
    this.#pool = poolOf(workloads);
  }

  /** Everything at the beginning, one change for each thing. */
  begin(): SourceChange[] {
    const chance = this.#chance;
    const changes: SourceChange[] = [];
    const { ids } = this.#pool;
    for (const id of chance.shuffled(ids).slice(0, chance.between(2, ids.length))) {
      changes.push(this.#put(randomWorkload(id, this.#pool, chance)));
    }
    this.#configuration = {
      rulesets: chance
        .shuffled(RULESET_NAMES)
        .slice(1)
        .map((name) => randomRuleset(name, chance)),
      services: chance.some(SERVICE_NAMES, 3).map((name) => randomService(name, chance)),
      addressGroups: chance.some(GROUP_NAMES, 2).map((name) => randomGroup(name, chance)),
      routes: chance.some(ROUTE_NAMES, 3).map((name) => randomRoute(name, chance)),
      inventory: chance.some(UNIT_NAMES, 3).map((name) => randomUnit(name, chance)),
    };
    changes.push({ kind: "configuration", configuration: this.#configuration });
    return chance.shuffled(changes);
  }

  /** One more change. */
  next(): SourceChange {
    const chance = this.#chance;
    if (chance.happens(0.6)) {
      return this.#changeWorkload(chance.pick(this.#pool.ids));
    }
    this.#configuration = this.#editConfiguration();
    return { kind: "configuration", configuration: this.#configuration };
  }

  #put(workload: WorkloadSpec): SourceChange {
    this.#workloads.set(workload.id, workload);
    return { kind: "workload", workload };
  }

  #changeWorkload(id: string): SourceChange {
    const chance = this.#chance;
    const known = this.#workloads.get(id);
    if (known === undefined) {
      return this.#put(randomWorkload(id, this.#pool, chance));
    }
    const fresh = randomWorkload(id, this.#pool, chance);
    switch (chance.below(8)) {
      case 0:
        this.#workloads.delete(id);
        return { kind: "removal", id };
      case 1:
        return this.#put({ ...known, labels: randomLabels(chance) });
      case 2:
        return this.#put({ ...known, addresses: fresh.addresses });
      case 3:
        return this.#put({ ...known, presence: fresh.presence });
      case 4:
        return this.#put({ ...known, rows: [...known.rows, randomRow(chance)].slice(-3) });
      case 5:
        return this.#put({ ...known, enforced: !known.enforced });
      case 6:
        return this.#put({ ...known, outbounds: fresh.outbounds });
      default:
        return this.#put(fresh);
    }
  }

  #editConfiguration(): Configuration {
    const chance = this.#chance;
    const lists: Lists = { ...this.#configuration };
    switch (chance.below(6)) {
      case 0:
      case 1:
        lists.rulesets = edited(lists.rulesets, RULESET_NAMES, chance, randomRuleset);
        break;
      case 2:
        lists.services = edited(lists.services, SERVICE_NAMES, chance, randomService);
        break;
      case 3:
        lists.addressGroups = edited(lists.addressGroups, GROUP_NAMES, chance, randomGroup);
        break;
      case 4:
        lists.routes = edited(lists.routes, ROUTE_NAMES, chance, randomRoute);
        break;
      default:
        lists.inventory = edited(lists.inventory, UNIT_NAMES, chance, randomUnit);
    }
    return lists;
  }
}

/** A list with one unit put, removed or all of them in another order. */
function edited<T extends { readonly name: string }>(
  units: readonly T[],
  names: readonly [string, ...string[]],
  chance: Chance,
  make: (name: string, chance: Chance) => T,
): readonly T[] {
  const name = chance.pick(names);
  const others = units.filter((unit) => unit.name !== name);
  switch (chance.below(4)) {
    case 0:
      return others;
    case 1:
      return chance.shuffled(units);
    default:
      return [...others, make(name, chance)];
  }
}
