import type { Effect, Message, Moment, Reducer } from "@ringwall/actor";
import type { Canonical } from "@ringwall/rendered";
import type { BodyDigest, InventoryReport, WorkloadPolicy } from "@ringwall/wire";
import type { ApplyOrder, ApplyOutcome } from "../apply.ts";
import type { BootState } from "../boot.ts";
import type { AgentEnv, AgentMessage } from "./contract.ts";
import type { SessionStatus } from "./phase.ts";
import { AgentSession } from "./session.ts";

/** A host that answers at once; what it holds survives the actor. */
export interface InstantHost {
  /** Puts the stored policy in force. */
  boot(): BootState;
  /** Puts a policy in force and stores it. */
  apply(order: ApplyOrder): ApplyOutcome;
  saveRefused(refused: readonly BodyDigest[]): void;
  /** Differences that were repaired. */
  drift(expected: Canonical<WorkloadPolicy>): number;
}

/** An agent as an actor. */
export interface AgentActor extends Reducer {
  /** The agent as people see it; undefined before `start`. */
  readonly status: SessionStatus | undefined;
}

/**
 * An agent as an actor on any bus, with a host that answers within the step: for simulation. It
 * listens on its down subject, boots on `start` and says Hello with `inventory` if it is given.
 */
export function createAgentActor(
  env: AgentEnv,
  host: InstantHost,
  inventory?: InventoryReport,
): AgentActor {
  let session: AgentSession | undefined;

  function take(message: AgentMessage, moment: Moment): Effect[] {
    const effects: Effect[] = [];
    for (const effect of session?.step(message, moment) ?? []) {
      switch (effect.kind) {
        case "apply": {
          const outcome = host.apply(effect);
          effects.push(...take({ kind: "applied", outcome }, moment));
          break;
        }
        case "save-refused":
          host.saveRefused(effect.refused);
          break;
        case "check-drift": {
          const repaired = host.drift(effect.policy);
          effects.push(...take({ kind: "drift", repaired, detail: "" }, moment));
          break;
        }
        case "read-counters":
          break;
        default:
          effects.push(effect);
      }
    }
    return effects;
  }

  return {
    get status() {
      return session?.status;
    },
    step: (message: Message, moment: Moment): readonly Effect[] => {
      switch (message.kind) {
        case "start": {
          session = new AgentSession(env, host.boot());
          const listen: Effect = {
            kind: "listen",
            listener: "down",
            subject: env.subjects.down,
          };
          const told =
            inventory === undefined ? [] : take({ kind: "inventory", report: inventory }, moment);
          return [listen, ...told, ...take(message, moment)];
        }
        case "reconnected":
        case "stop":
        case "timer":
        case "delivery":
          return take(message, moment);
        default:
          return [];
      }
    },
  };
}
