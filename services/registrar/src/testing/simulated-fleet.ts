import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { partitionOf } from "@ringwall/bus";
import { type Faults, type SimActor, SimBus } from "@ringwall/testkit";
import {
  LeaseBatchSchema,
  Presence,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  type WorkloadRecord,
  WorkloadRecordSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { createRegistrar, type Registrar } from "../index.ts";

const NAMED: readonly string[] = Object.keys(Presence);

/** Registrars on a simulated bus, agents that they know, and a gateway that hears some of them. */
export class SimulatedFleet {
  readonly bus: SimBus;
  readonly registrars: SimActor<Registrar>[] = [];
  /** Workloads that send heartbeats. */
  alive = new Set<string>();

  constructor(seed: number, registrars: number, faults: Partial<Faults> = {}) {
    this.bus = new SimBus({ seed, faults });
    for (let index = 0; index < registrars; index += 1) {
      this.addRegistrar(`r${index}`);
    }
    this.#beat();
  }

  addRegistrar(name: string): SimActor<Registrar> {
    const { names } = this.bus;
    const actor = this.bus.spawn(name, {
      mayCrash: true,
      create: (life) =>
        createRegistrar({ names, instance: `${name}-${life}`, environment: "prod", options: {} }),
    });
    this.registrars.push(actor);
    return actor;
  }

  /** Asks until somebody answers; gives up after so much virtual time. */
  call<Request extends DescMessage, Response extends DescMessage>(
    subject: string,
    [requestSchema, responseSchema]: readonly [Request, Response],
    request: MessageInitShape<Request>,
    limitMs = 60_000,
  ): MessageShape<Response> {
    const payload = toBinary(requestSchema, create(requestSchema, request));
    const untilMs = this.bus.nowMs + limitMs;
    for (;;) {
      const answer = this.bus.request(subject, payload, 2_000);
      this.bus.runUntil("an answer", () => answered(answer));
      if (answer.payload !== undefined) {
        return fromBinary(responseSchema, answer.payload);
      }
      if (this.bus.nowMs > untilMs) {
        throw new Error(`${subject} was not answered (seed ${this.bus.seed})`);
      }
      this.bus.run(200);
    }
  }

  /** Registers agents that are alive. */
  register(ids: readonly string[]): void {
    const requests = ids.map((id) => {
      const payload = toBinary(
        ReportWorkloadRequestSchema,
        create(ReportWorkloadRequestSchema, { id, source: WorkloadSource.AGENT, namespace: "a" }),
      );
      const subject = this.bus.names.api("workload", "report", partitionOf(id));
      return { payload, subject, id };
    });
    let open = requests;
    while (open.length > 0) {
      const asked = open.map((each) => ({
        each,
        answer: this.bus.request(each.subject, each.payload, 2_000),
      }));
      this.bus.run(2_500);
      open = asked
        .filter(({ answer }) => {
          const { payload } = answer;
          return (
            payload === undefined ||
            fromBinary(ReportWorkloadResponseSchema, payload).error !== undefined
          );
        })
        .map(({ each }) => each);
    }
    for (const id of ids) {
      this.alive.add(id);
    }
  }

  /** What REGISTRY holds now. */
  stored(): WorkloadRecord[] {
    const head = this.bus.names.registryAll.slice(0, -1);
    const last = new Map<string, WorkloadRecord | undefined>();
    for (const record of this.bus.stream("REGISTRY").records) {
      if (!record.subject.endsWith(".OWNER") && record.subject.startsWith(head)) {
        const gone = record.payload.length === 0;
        const value = gone ? undefined : fromBinary(WorkloadRecordSchema, record.payload);
        last.set(record.subject, value);
      }
    }
    return [...last.values()].flatMap((record) => record ?? []);
  }

  presences(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { presence } of this.stored()) {
      const name = NAMED[presence] ?? "?";
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  expired(): string[] {
    return this.stored()
      .filter(({ presence }) => presence === Presence.EXPIRED)
      .map(({ id }) => id)
      .sort();
  }

  /** Once a second the gateway tells which tenth of the agents it has heard. */
  #beat(): void {
    this.bus.after(1_000, () => {
      const second = Math.floor(this.bus.nowMs / 1_000) % 10;
      const workloads = [...this.alive].filter((id) => partitionOf(id) % 10 === second);
      const batch = create(LeaseBatchSchema, { gateway: "g1", workloads });
      this.bus.publish(this.bus.names.lease, toBinary(LeaseBatchSchema, batch));
      this.#beat();
    });
  }
}

function answered(answer: { payload: unknown; failed: unknown }): boolean {
  return answer.payload !== undefined || answer.failed !== undefined;
}
