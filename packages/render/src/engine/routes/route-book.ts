import {
  type Inbound,
  inboundTags,
  RouteIndex,
  type Selection,
  select,
  servicesReached,
} from "@ringwall/routes";
import type { TrafficRouteSpec } from "../../model.ts";
import type { LabelIndex } from "../labels/label-index.ts";
import { Interned } from "../store/interned.ts";
import type { Cells } from "../workloads/cells.ts";
import type { Decisions, RouteList } from "./decisions.ts";
import type { VirtualNames } from "./virtual-names.ts";

/** Workloads that are led alike: same labels, same rows, same outbounds. */
interface Caller {
  readonly inbounds: readonly Inbound[];
  /** In byte order. */
  readonly outbounds: readonly string[];
  readonly cells: Set<number>;
  list: RouteList | undefined;
}

/** What routes are chosen from. */
export interface RouteBookBase {
  readonly labels: LabelIndex;
  readonly cells: () => Cells;
  readonly names: VirtualNames;
  readonly decisions: Decisions;
}

const IMPLICIT_ROUTE = 0;

/** The traffic routes, and which of them each caller's outbounds take. */
export class RouteBook {
  readonly #base: RouteBookBase;
  readonly #index = new RouteIndex();
  readonly #routes = new Map<string, TrafficRouteSpec>();
  readonly #routeIds = new Map<TrafficRouteSpec, number>();
  #lastRoute = IMPLICIT_ROUTE;
  readonly #callers = new Interned<Caller>();
  readonly #callerOf = new Map<number, number>();
  readonly #byOutbound = new Map<string, Set<Caller>>();
  readonly #all = new Set<Caller>();
  #touched = new Set<Caller>();
  readonly #none: RouteList;

  constructor(base: RouteBookBase) {
    this.#base = base;
    this.#none = base.decisions.holdList([]);
  }

  /** Adds or replaces a route under its name. */
  put(name: string, route: TrafficRouteSpec): void {
    this.remove(name);
    this.#lastRoute += 1;
    this.#routes.set(name, route);
    this.#routeIds.set(route, this.#lastRoute);
    this.#index.add(route);
    this.#touch(route);
  }

  /** Removes a route; an unknown one is fine. */
  remove(name: string): void {
    const route = this.#routes.get(name);
    if (route !== undefined) {
      this.#routes.delete(name);
      this.#routeIds.delete(route);
      this.#index.remove(route);
      this.#touch(route);
    }
  }

  /** Chooses anew for callers that an edit may concern; the cells whose list is another one. */
  *followEdits(perStep: number): Generator<void, readonly number[]> {
    const touched = this.#touched;
    this.#touched = new Set();
    const cells: number[] = [];
    let done = 0;
    for (const caller of touched) {
      const before = caller.list;
      this.#decide(caller);
      if (caller.list !== before) {
        cells.push(...caller.cells);
      }
      done += caller.outbounds.length;
      if (done > perStep) {
        done = 0;
        yield;
      }
    }
    return cells;
  }

  /** The route list of a cell. */
  listOf(cell: number): RouteList {
    const caller = this.#callers.get(this.#callerOf.get(cell) ?? -1);
    return caller?.list ?? this.#none;
  }

  /** Takes in a cell that was made or derived anew. */
  enter(cell: number): void {
    const cells = this.#base.cells();
    const outbounds = cells.outbounds(cell);
    const former = this.#callerOf.get(cell);
    if (outbounds.length > 0) {
      const key = `${cells.set(cell)} ${cells.rowsId(cell)} ${JSON.stringify(outbounds)}`;
      const held = this.#callers.hold(key, () => this.#createCaller(cell, outbounds));
      this.#callerOf.set(cell, held);
      const caller = this.#callers.get(held);
      caller?.cells.add(cell);
      if (caller !== undefined && caller.list === undefined) {
        this.#decide(caller);
      }
    } else {
      this.#callerOf.delete(cell);
    }
    if (former !== undefined) {
      this.#letGo(cell, former);
    }
  }

  /** Lets go of a cell. */
  leave(cell: number): void {
    const caller = this.#callerOf.get(cell);
    if (caller !== undefined) {
      this.#callerOf.delete(cell);
      this.#letGo(cell, caller);
    }
  }

  #createCaller(cell: number, outbounds: readonly string[]): Caller {
    const { labels, names } = this.#base;
    const cells = this.#base.cells();
    const tags = labels.labels(cells.set(cell));
    const caller: Caller = {
      inbounds: cells.rows(cell).map(({ service, metadata }) => ({
        tags: inboundTags(service, tags, metadata),
      })),
      outbounds,
      cells: new Set(),
      list: undefined,
    };
    this.#all.add(caller);
    for (const outbound of outbounds) {
      names.hold(outbound);
      const callers = this.#byOutbound.get(outbound);
      if (callers === undefined) {
        this.#byOutbound.set(outbound, new Set([caller]));
      } else {
        callers.add(caller);
      }
    }
    return caller;
  }

  #letGo(cell: number, id: number): void {
    const caller = this.#callers.get(id);
    this.#callers.release(id);
    if (caller === undefined || this.#callerOf.get(cell) === id) {
      return;
    }
    caller.cells.delete(cell);
    if (caller.cells.size > 0) {
      return;
    }
    this.#all.delete(caller);
    this.#touched.delete(caller);
    if (caller.list !== undefined) {
      this.#base.decisions.releaseList(caller.list);
    }
    for (const outbound of caller.outbounds) {
      this.#base.names.release(outbound);
      const callers = this.#byOutbound.get(outbound);
      callers?.delete(caller);
      if (callers?.size === 0) {
        this.#byOutbound.delete(outbound);
      }
    }
  }

  #decide(caller: Caller): void {
    const { decisions } = this.#base;
    const selected = select(caller, this.#index);
    const list = decisions.holdList(
      [...selected].map(([outbound, selection]) =>
        decisions.intern(outbound, selection, this.#idOf(selection)),
      ),
    );
    if (caller.list !== undefined) {
      decisions.releaseList(caller.list);
    }
    caller.list = list;
  }

  #idOf({ route }: Selection): number {
    // The index holds the very objects that were put.
    return route === undefined
      ? IMPLICIT_ROUTE
      : (this.#routeIds.get(route as TrafficRouteSpec) ?? IMPLICIT_ROUTE);
  }

  #touch(route: TrafficRouteSpec): void {
    const services = servicesReached(route);
    if (services === undefined) {
      for (const caller of this.#all) {
        this.#touched.add(caller);
      }
      return;
    }
    for (const service of services) {
      for (const caller of this.#byOutbound.get(service) ?? []) {
        this.#touched.add(caller);
      }
    }
  }
}
