import {
  type Effect,
  type Message,
  type Reducer,
  type RunningActor,
  runActor,
} from "@ringwall/actor";
import { startTelemetry } from "@ringwall/telemetry";
import { systemClock } from "../clock.ts";
import type { Bus } from "../connect.ts";
import { NatsDriver } from "../driver/nats-driver.ts";

/** An actor on a real bus whose effects are given by a test, and whose messages it reads. */
export interface ScriptActor {
  readonly seen: Message[];
  readonly actor: RunningActor;
  readonly driver: NatsDriver;
  /** Performs effects as one chain. */
  run(...effects: Effect[]): void;
  /** Payloads of the records of a reader as text, in order of delivery. */
  texts(reader: string): string[];
}

/** Starts such an actor; it ends with `actor.stop`. */
export async function scriptActor(bus: Bus, owner = "test-a"): Promise<ScriptActor> {
  const telemetry = await startTelemetry({
    service: "test",
    instance: owner,
    environment: { RINGWALL_LOG_LEVEL: "silent" },
  });
  const seen: Message[] = [];
  let wanted: Effect[][] = [];
  const reducer: Reducer = {
    step(message) {
      if (message.kind !== "timer" || message.id !== "script") {
        seen.push(message);
      }
      const chains = wanted;
      wanted = [];
      return [
        ...chains.map((effects): Effect => ({ kind: "fork", effects })),
        ...(message.kind === "start" || message.kind === "timer" ? [tick] : []),
      ];
    },
  };
  const tick: Effect = { kind: "timer", id: "script", delayMs: 2 };
  const driver = new NatsDriver({ bus, clock: systemClock, telemetry, owner });
  bus.onReconnect(() => driver.reconnected());
  const actor = runActor(reducer, driver, systemClock);
  return {
    seen,
    actor,
    driver,
    run: (...effects) => {
      wanted.push(effects);
    },
    texts: (reader) =>
      seen.flatMap((message) =>
        message.kind === "record" && message.reader === reader
          ? [new TextDecoder().decode(message.record.payload)]
          : [],
      ),
  };
}

/** UTF-8 bytes of a text. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
