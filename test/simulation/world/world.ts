import { create } from "@bufbuild/protobuf";
import type { StreamName } from "@ringwall/bus";
import { type SimActor, SimBus, type StreamCopy } from "@ringwall/testkit";
import { type InventoryReport, InventoryReportSchema } from "@ringwall/wire";
import { Checker } from "../check/checker.ts";
import { addressesOf, type EstateFile, firstFiles, WORKLOADS } from "../schedule/estate.ts";
import type { Setting } from "../schedule/move.ts";
import { AgentActor, garbled, misdelivered } from "./agent-actor.ts";
import { Host } from "./host.ts";
import { Observed } from "./observed.ts";
import { Operator, type Wish } from "./operator.ts";
import { createService, SERVICES, type Service } from "./services.ts";

const OPERATORS = 2;

/** What an adapter wants of one workload. */
type AdapterWish = Extract<Wish, { kind: "declare" | "deregister" }>;

/** How pushes to an agent are damaged. */
export type Tampering = "garble" | "misdeliver" | undefined;

/** A workload's host with its agent. */
export interface Member {
  readonly workload: string;
  readonly host: Host;
  readonly actor: SimActor;
  inventory: InventoryReport;
  tampering: Tampering;
}

/** A whole control plane with hosts, operators and a checker, on one simulated bus. */
export class World {
  readonly bus: SimBus;
  readonly checker: Checker;
  readonly members = new Map<string, Member>();
  readonly services = new Map<string, SimActor>();
  readonly operators: { readonly operator: Operator; readonly actor: SimActor }[] = [];
  /** What the operators want the tree to be. */
  readonly tree = new Map<string, EstateFile>();
  /** What the adapters want the registry to be. */
  readonly declared = new Map<string, AdapterWish>();
  /** Subjects that are denied, by actor; changed in place. */
  readonly denied = new Map<string, string[]>();
  /** Bodies that were last on their way to each agent, for those that come to the wrong one. */
  readonly #pushes: Uint8Array[] = [];
  readonly #setting: Setting;
  backup: ReadonlyMap<StreamName, StreamCopy> | undefined;
  /** What was there before the last loss. */
  beforeLoss: ReadonlyMap<StreamName, StreamCopy> | undefined;
  /** True once CONFIG or REGISTRY was lost: an operator's word may be needed. */
  mayBeHeld = false;

  constructor(seed: number, setting: Setting) {
    this.#setting = setting;
    this.bus = new SimBus({ seed });
    this.checker = new Checker(this.bus);
    this.bus.onStep(() => this.checker.stepped());
    for (const service of SERVICES) {
      for (let number = 1; number <= setting.instances; number += 1) {
        this.#spawnService(service, `${service}-${number}`);
      }
    }
    for (const workload of WORKLOADS) {
      this.#spawnAgent(workload);
    }
    for (let number = 0; number < OPERATORS; number += 1) {
      const operator = new Operator(this.bus.names, this.checker.promises());
      const actor = this.bus.spawn(`operator-${number}`, { create: () => operator });
      this.operators.push({ operator, actor });
    }
    this.commit(0, firstFiles());
    for (const workload of WORKLOADS) {
      const labels = { role: workload.slice(0, workload.indexOf("-")), env: "prod" };
      this.declare({
        kind: "declare",
        declaration: { workload, labels, addresses: [], services: [] },
      });
    }
  }

  /** An actor by its name. */
  actor(name: string): SimActor {
    const actor = this.bus.actors.get(name);
    if (actor === undefined) {
      throw new RangeError(`there is no actor "${name}"`);
    }
    return actor;
  }

  member(workload: string): Member {
    const member = this.members.get(workload);
    if (member === undefined) {
      throw new RangeError(`there is no workload "${workload}"`);
    }
    return member;
  }

  /** An operator wants files to be so. */
  commit(operator: number, files: readonly EstateFile[]): void {
    for (const file of files) {
      this.tree.set(`${file.layer} ${file.path}`, file);
    }
    this.wish(operator, { kind: "files", files });
  }

  /** An adapter says what a workload is, or that it is gone. */
  declare(wish: AdapterWish): void {
    const workload = wish.kind === "declare" ? wish.declaration.workload : wish.workload;
    this.declared.set(workload, wish);
    this.wish(WORKLOADS.findIndex((each) => each === workload) % OPERATORS, wish);
  }

  /** Puts a wish in an operator's line. */
  wish(operator: number, wish: Wish): void {
    const chosen = this.operators[operator % OPERATORS];
    chosen?.operator.wish(wish);
    chosen?.actor.deliver({ kind: "again", tag: "wish" });
  }

  /** Subjects denied to an actor from now on. */
  deniedTo(name: string): string[] {
    let denied = this.denied.get(name);
    if (denied === undefined) {
      denied = [];
      this.denied.set(name, denied);
    }
    return denied;
  }

  /** Its host serves something else: the agent is told. */
  report(member: Member, inventory: InventoryReport): void {
    member.inventory = inventory;
    member.actor.deliver({ kind: "again", tag: "inventory" });
  }

  #spawnService(service: Service, name: string): void {
    const { hurried } = this.#setting;
    const actor = this.bus.spawn(name, {
      denied: this.deniedTo(name),
      create: (life) => {
        const instance = `${name}-${life}`;
        const reducer = createService(service, instance, this.bus.names, hurried);
        if (service === "registrar") {
          return new Observed(reducer, {
            wants: (effects) => this.checker.registrarWants(effects),
          });
        }
        if (service !== "gateway") {
          return reducer;
        }
        return new Observed(reducer, {
          takes: (message) => this.checker.gatewayTakes(instance, message),
          wants: (effects) => {
            this.checker.gatewayWants(instance, effects);
            for (const effect of effects) {
              if (effect.kind === "publish" && effect.subject.endsWith(".down")) {
                this.#pushes.push(effect.payload);
              }
            }
            this.#pushes.splice(0, this.#pushes.length - 16);
          },
        });
      },
    });
    this.services.set(name, actor);
  }

  #spawnAgent(workload: string): void {
    const host = new Host(workload, this.checker);
    this.checker.watch(host);
    const actor = this.bus.spawn(`agent-${workload}`, {
      denied: this.deniedTo(`agent-${workload}`),
      create: () =>
        new Observed(
          new AgentActor({
            names: this.bus.names,
            host,
            inventory: () => member.inventory,
            tampered: (payload) => this.#tampered(member, payload),
          }),
          { wants: (effects) => this.checker.agentWants(host, effects) },
        ),
    });
    const inventory = create(InventoryReportSchema, {
      addresses: [...addressesOf(workload, 0)],
      services: [`shop/${workload.slice(0, workload.indexOf("-"))}`],
    });
    const member: Member = { workload, host, actor, inventory, tampering: undefined };
    this.members.set(workload, member);
  }

  #tampered({ tampering }: Member, payload: Uint8Array): Uint8Array | undefined {
    switch (tampering) {
      case "garble":
        return garbled(payload);
      case "misdeliver":
        return misdelivered(payload, this.#pushes[Math.floor(this.bus.random() * 16)]);
      default:
        return undefined;
    }
  }
}
