import { routeName } from "@ringwall/routes";
import type { ConfigurationEdits } from "../body-source.ts";
import type { Configuration } from "../model.ts";
import { Bodies } from "./bodies/bodies.ts";
import { Classes } from "./bodies/classes.ts";
import { Deltas } from "./bodies/deltas.ts";
import { changedUnits, EMPTY_CONFIGURATION } from "./configuration-diff.ts";
import { LabelIndex } from "./labels/label-index.ts";
import { PeerSets } from "./peers/peer-sets.ts";
import { PeerSources } from "./peers/peer-sources.ts";
import { Buckets } from "./routes/buckets.ts";
import { Decisions } from "./routes/decisions.ts";
import { RouteBook } from "./routes/route-book.ts";
import { VirtualNames } from "./routes/virtual-names.ts";
import { RuleBook } from "./rules/rule-book.ts";
import { RuleLists } from "./rules/rule-lists.ts";
import { ByteWriter } from "./store/byte-writer.ts";
import { Pause } from "./store/pause.ts";
import { TextTable } from "./store/text-table.ts";
import { Fleet } from "./workloads/fleet.ts";
import { Inventory } from "./workloads/inventory.ts";

/** Classes, label sets and selectors that are forgotten without a pause. */
const SWEPT_PER_STEP = 500;

/** Two configurations, or what of them may differ. */
export interface Comparison {
  readonly before: Configuration;
  readonly after: Configuration;
}

/** Everything that the engine knows, from labels and addresses up to rendered classes. */
export class EngineState {
  readonly texts = new TextTable();
  readonly labels = new LabelIndex();
  readonly inventory = new Inventory(this.labels);
  readonly sources = new PeerSources(this.labels, this.texts);
  readonly #writer = new ByteWriter();
  readonly peers: PeerSets = new PeerSets({
    labels: this.labels,
    texts: this.texts,
    sources: this.sources,
    fleet: () => this.fleet,
    writer: this.#writer,
  });
  readonly buckets: Buckets = new Buckets({
    labels: this.labels,
    texts: this.texts,
    writer: this.#writer,
    fleet: () => this.fleet,
  });
  readonly fleet: Fleet = new Fleet(this.labels, this.texts, this.inventory, {
    peersMoved: (before, beforeTexts, after, afterTexts) => {
      this.peers.moved(before, beforeTexts, after, afterTexts);
    },
    withdraw: (workload, serving, set) => {
      this.buckets.withdraw(workload, serving, set);
    },
    offer: (workload, serving, set) => {
      this.buckets.offer(workload, serving, set);
    },
  });
  readonly names = new VirtualNames();
  readonly decisions = new Decisions(this.buckets, this.names);
  readonly routes = new RouteBook({
    labels: this.labels,
    cells: () => this.fleet.cells,
    names: this.names,
    decisions: this.decisions,
  });
  readonly book = new RuleBook(this.labels, this.sources);
  readonly lists = new RuleLists(this.labels, this.book, this.peers);
  readonly classes = new Classes({
    cells: this.fleet.cells,
    book: this.book,
    lists: this.lists,
    decisions: this.decisions,
    peers: this.peers,
  });
  readonly bodies: Bodies;
  readonly deltas: Deltas;
  #configuration: Configuration = EMPTY_CONFIGURATION;
  /** Each forgets what nobody uses; what holds comes before what is held. */
  readonly #sweeps: readonly (() => void)[] = [
    () => this.lists.sweep(),
    () => this.book.sweep(),
    () => this.peers.sweep(),
    () => this.sources.sweep(),
    () => this.buckets.sweep(),
    () => this.labels.sweep(),
    () => this.texts.sweep(),
    () => this.fleet.sweep(),
  ];

  constructor() {
    const sets = { peers: this.peers.sets, endpoints: this.buckets.sets };
    this.bodies = new Bodies(sets);
    this.deltas = new Deltas(this.texts, sets);
  }

  /** Makes room for a whole estate, so that nothing is moved again and again while it is read. */
  reserve(workloads: number, rulesets: number): void {
    this.texts.reserve(workloads);
    this.fleet.reserve(workloads);
    this.labels.reserve(workloads, 2 * rulesets);
    this.sources.reserve(rulesets);
    this.peers.reserve(rulesets);
    this.book.reserve(rulesets);
    this.lists.reserve(rulesets, workloads);
    this.classes.reserve(rulesets, workloads);
    this.bodies.reserve(rulesets);
  }

  /** Where a configuration is to be compared with the one in force: in its edits, if they fit. */
  compared(after: Configuration, edits: ConfigurationEdits | undefined): Comparison {
    const before = this.#configuration;
    return edits?.since === before ? edits : { before, after };
  }

  /** Takes in inventory units. */
  followInventory({ before, after }: Comparison): void {
    const { gone, put } = changedUnits(before.inventory, after.inventory, nameOf);
    for (const name of gone) {
      this.inventory.remove(name);
    }
    for (const spec of put) {
      this.inventory.put(spec);
    }
  }

  /** Takes in services, groups, rulesets and routes; the configuration is in force from now on. */
  *followConfiguration(
    configuration: Configuration,
    { before, after }: Comparison,
    perStep: number,
  ): Generator<void, void> {
    this.#configuration = configuration;
    const services = changedUnits(before.services, after.services, nameOf);
    for (const name of services.gone) {
      this.book.defineService(name, undefined);
    }
    for (const { name, entries } of services.put) {
      this.book.defineService(name, entries);
    }
    const groups = changedUnits(before.addressGroups, after.addressGroups, nameOf);
    for (const name of groups.gone) {
      this.#defineGroup(name, undefined);
    }
    for (const { name, cidrs } of groups.put) {
      this.#defineGroup(name, cidrs);
    }
    yield* this.#followRulesets(before, after, perStep);
    const routes = changedUnits(before.routes, after.routes, routeName);
    for (const name of routes.gone) {
      this.routes.remove(name);
    }
    for (const route of routes.put) {
      this.routes.put(routeName(route), route);
    }
  }

  /** Forgets what was kept for the flush before and what nobody uses any more. */
  *settle(): Generator<void, void> {
    this.peers.sets.settle();
    this.buckets.sets.settle();
    this.deltas.settle();
    const gone = this.classes.sweep();
    for (const policyClass of gone) {
      this.bodies.drop(policyClass);
    }
    // From here on what is in force can be read again: bodies, sets and decisions agree.
    this.bodies.settle();
    this.decisions.sweep();
    const isLong = gone.length + this.labels.unused > SWEPT_PER_STEP;
    for (const sweep of this.#sweeps) {
      if (isLong) {
        yield;
      }
      sweep();
    }
  }

  *#followRulesets(
    before: Configuration,
    after: Configuration,
    perStep: number,
  ): Generator<void, void> {
    const { gone, put } = changedUnits(before.rulesets, after.rulesets, nameOf);
    const pause = new Pause(perStep);
    for (const name of gone) {
      if (pause.isDue(1)) {
        yield;
      }
      this.book.remove(name);
    }
    for (let index = 0; index < put.length; index++) {
      if (pause.isDue(1)) {
        yield;
      }
      const spec = put[index];
      if (spec !== undefined) {
        this.book.put(spec);
      }
    }
  }

  #defineGroup(name: string, cidrs: readonly string[] | undefined): void {
    const changed = this.sources.defineGroup(name, cidrs);
    for (const source of this.sources.sourcesOfGroup(name)) {
      for (const text of changed) {
        this.peers.touch(source, text);
      }
    }
  }
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
