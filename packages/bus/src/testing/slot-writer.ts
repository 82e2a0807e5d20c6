// A service as its own process for tests of ownership: for each slot `writer.<p>` that it owns it
// appends counters to `rw.version.<p>` under the fence, and tells on standard output what it owns.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Effect, Message, Moment } from "@ringwall/actor";
import { WorkloadPolicySchema } from "@ringwall/wire";
import { runService, type ServiceEnv, type ServiceReducer, Slots } from "../index.ts";

const SLOTS = Array.from({ length: 8 }, (_, i) => `writer.${i}`);

interface Head {
  sequence: number;
  count: bigint;
  /** Tag of the append in flight; an answer with another tag is of before a loss. */
  writing: string;
}

function slotOf(tag: string): string {
  return tag.split(" ")[0] ?? "";
}

function createWriter(env: ServiceEnv): ServiceReducer {
  const slots = new Slots({ ...env, service: "writer", slots: SLOTS });
  const heads = new Map<string, Head>();
  let writes = 0;
  const subject = (slot: string) => env.names.version(Number(slot.split(".")[1]));
  const load = (slot: string): Effect => {
    heads.delete(slot);
    return {
      kind: "fork",
      effects: [{ kind: "read-last", tag: slot, stream: "VERSIONS", subject: subject(slot) }],
    };
  };
  const write = (slot: string): Effect[] => {
    const head = heads.get(slot);
    if (head === undefined || head.writing !== "" || !slots.owned.has(slot)) {
      return [];
    }
    writes += 1;
    head.writing = `${slot} ${writes}`;
    const next = create(WorkloadPolicySchema, { version: head.count + 1n });
    return [
      {
        kind: "append",
        tag: head.writing,
        stream: "VERSIONS",
        subject: subject(slot),
        payload: toBinary(WorkloadPolicySchema, next),
        expect: { sequence: head.sequence },
        write: `${env.instance}:${writes}`,
        headers: { By: env.instance },
      },
    ];
  };
  const react = (message: Message): Effect[] => {
    switch (message.kind) {
      case "start":
        return [{ kind: "ready", ready: true }];
      case "read": {
        const { record } = message;
        if (!slots.owned.has(message.tag)) {
          return [];
        }
        heads.set(message.tag, {
          writing: "",
          sequence: record?.sequence ?? 0,
          count:
            record === undefined ? 0n : fromBinary(WorkloadPolicySchema, record.payload).version,
        });
        return write(message.tag);
      }
      case "appended": {
        const slot = slotOf(message.tag);
        const head = heads.get(slot);
        if (head === undefined || head.writing !== message.tag) {
          return [];
        }
        head.sequence = message.sequence;
        head.count += 1n;
        head.writing = "";
        return [{ kind: "timer", id: `write ${slot}`, delayMs: 10 }];
      }
      case "timer":
        return message.id.startsWith("write ") ? write(message.id.slice("write ".length)) : [];
      case "failed":
        return slots.owned.has(slotOf(message.tag)) ? [load(slotOf(message.tag))] : [];
      default:
        return [];
    }
  };
  return {
    status: () => ({ slots: [...slots.owned] }),
    step(message: Message, moment: Moment) {
      const effects = [...slots.step(message, moment)];
      const { gained, lost } = slots.takeChanges();
      for (const slot of lost) {
        heads.delete(slot);
      }
      effects.push(...gained.map(load), ...react(message));
      if (gained.length + lost.length > 0) {
        process.stdout.write(`${JSON.stringify({ owned: [...slots.owned] })}\n`);
      }
      return effects;
    },
  };
}

await runService({ service: "writer", description: "Counts for a test", create: createWriter });
