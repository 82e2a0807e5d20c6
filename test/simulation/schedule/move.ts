import type { StreamName } from "@ringwall/bus";
import type { Faults } from "@ringwall/testkit";
import type { Declaration, EstateFile, HostInventory } from "./estate.ts";

/** What happens in one step of a schedule, before time goes on. */
export type Action =
  /** An operator commits files. */
  | { readonly kind: "commit"; readonly operator: number; readonly files: readonly EstateFile[] }
  /** An operator commits what admission has to refuse. */
  | { readonly kind: "commit-bad"; readonly operator: number; readonly file: EstateFile }
  | { readonly kind: "declare"; readonly declaration: Declaration }
  | { readonly kind: "deregister"; readonly workload: string }
  /** A host begins to serve something else. */
  | { readonly kind: "inventory"; readonly workload: string; readonly inventory: HostInventory }
  /** An agent's process is stopped in order, for a while. */
  | { readonly kind: "agent-away"; readonly workload: string; readonly forMs: number }
  /** A service's instance is stopped in order and another one begins later. */
  | { readonly kind: "replace"; readonly actor: string; readonly downMs: number }
  /** Kill -9 after so many more messages, with a restart later. */
  | {
      readonly kind: "crash";
      readonly actor: string;
      readonly afterMessages: number;
      readonly downMs: number;
    }
  /** SIGSTOP, and SIGCONT later. */
  | { readonly kind: "freeze"; readonly actor: string; readonly forMs: number }
  /** Its connection breaks and comes back. */
  | { readonly kind: "cut"; readonly actor: string; readonly forMs: number }
  /** Messages are lost, late, doubled and so on, for a while. */
  | { readonly kind: "noise"; readonly faults: Partial<Faults>; readonly forMs: number }
  /** The server restarts with its store as it was. */
  | { readonly kind: "server"; readonly downMs: number }
  /** A backup of the store is taken. */
  | { readonly kind: "backup" }
  /** The server restarts with streams from the last backup. */
  | { readonly kind: "restore"; readonly streams: readonly StreamName[]; readonly downMs: number }
  /** The server restarts with streams emptied. */
  | { readonly kind: "wipe"; readonly streams: readonly StreamName[]; readonly downMs: number }
  /** The last loss is undone: what was there before it is put back. */
  | { readonly kind: "undo-loss" }
  /** An operator accepts the present state. */
  | { readonly kind: "accept" }
  | { readonly kind: "skew"; readonly actor: string; readonly byMs: number }
  /** The server denies subjects to a connection for a while. */
  | {
      readonly kind: "deny";
      readonly actor: string;
      readonly filter: string;
      readonly forMs: number;
    }
  /** A host takes this long for each part of an apply. */
  | { readonly kind: "slow"; readonly workload: string; readonly applyMs: number }
  /** A host refuses the next body that it does not have yet, and keeps refusing it. */
  | { readonly kind: "refuse"; readonly workload: string }
  /** A host's state directory can't be written for a while. */
  | { readonly kind: "unwritable"; readonly workload: string; readonly forMs: number }
  /** A host reboots: what was in its kernel is gone. */
  | { readonly kind: "reboot"; readonly workload: string; readonly downMs: number }
  /** A host comes back from an older image. */
  | { readonly kind: "old-image"; readonly workload: string }
  /** Pushes to an agent are damaged on their way, or those of another come to it, for a while. */
  | {
      readonly kind: "tamper";
      readonly workload: string;
      readonly how: "garble" | "misdeliver";
      readonly forMs: number;
    }
  | { readonly kind: "nothing" };

/** One step of a schedule: an action, then some virtual time. */
export interface Move {
  readonly action: Action;
  readonly thenMs: number;
}

/** Settings of a simulated control plane that a seed chooses. */
export interface Setting {
  readonly instances: number;
  /** Options of services by their key, shortened so that a run sees what takes hours outside. */
  readonly hurried: boolean;
  readonly moves: readonly Move[];
}

/** One line that says what an action does. */
export function describeAction(action: Action): string {
  const { kind, ...rest } = action;
  const words = Object.entries(rest).map(([key, value]) => `${key}=${show(value)}`);
  return [kind, ...words].join(" ");
}

function show(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
}
