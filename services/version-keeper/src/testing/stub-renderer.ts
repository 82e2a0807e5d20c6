import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { headers } from "@nats-io/nats-core";
import { type Bus, partitionOf } from "@ringwall/bus";
import { canonical, content } from "@ringwall/rendered";
import {
  EnforcementMode,
  FullBatchWantSchema,
  type Inputs,
  InputsSchema,
  Protocol,
  type RenderBatch,
  RenderBatchSchema,
  WorkloadPolicySchema,
} from "@ringwall/wire";

/** A body with one rule and these peers. */
export function body(...peers: string[]) {
  return canonical(
    create(WorkloadPolicySchema, {
      mode: EnforcementMode.VISIBILITY,
      inboundRules: [
        {
          ruleId: "11111111-2222-8333-8444-555555555555/tcp",
          protocol: Protocol.TCP,
          peerCidrs: peers,
          ports: [{ start: 443, end: 443 }],
        },
      ],
    }),
  );
}

/** What a stub renderer says of a partition. */
export interface StubBatch {
  readonly inputs: Inputs;
  readonly full?: boolean;
  readonly set?: Readonly<Record<string, ReturnType<typeof body>>>;
  readonly removed?: readonly string[];
  readonly refused?: Readonly<Record<string, string>>;
}

/** Appends content and batches as a renderer would, one batch for each partition named. */
export class StubRenderer {
  readonly #bus: Bus;
  readonly wanted: number[] = [];

  constructor(bus: Bus) {
    this.#bus = bus;
    bus.nc.subscribe(bus.names.internal("batch", "want"), {
      callback: (_error, message) => {
        this.wanted.push(fromBinary(FullBatchWantSchema, message.data).partition);
      },
    });
  }

  /** Stores a body's content and returns its digest. */
  async put(policy: ReturnType<typeof body>): Promise<Uint8Array<ArrayBuffer>> {
    const { digest, objects } = content(policy);
    for (const [name, bytes] of objects) {
      await this.#append(this.#bus.names.content(name, 0), bytes, { "Rw-Count": "1" });
    }
    return new Uint8Array(Buffer.from(digest, "hex"));
  }

  /** Appends one batch to a partition; returns its sequence. */
  async emit(partition: number, batch: StubBatch): Promise<number> {
    const message = await this.message(batch);
    return this.append(partition, message);
  }

  /** A batch in the form of the contract, its content stored. */
  async message({ inputs, full, set, removed, refused }: StubBatch): Promise<RenderBatch> {
    const assignments = [];
    for (const [workload, policy] of Object.entries(set ?? {})) {
      assignments.push({ digest: await this.put(policy), workloads: [workload] });
    }
    return create(RenderBatchSchema, {
      inputs,
      full: full ?? false,
      count: 1,
      set: assignments,
      removed: [...(removed ?? [])],
      refused: Object.entries(refused ?? {}).map(([workload, reason]) => ({ workload, reason })),
    });
  }

  /** Appends a batch as it is. */
  append(partition: number, batch: RenderBatch): Promise<number> {
    return this.#append(
      this.#bus.names.rendered(partition),
      toBinary(RenderBatchSchema, batch),
      {},
    );
  }

  async #append(
    subject: string,
    payload: Uint8Array,
    extra: Readonly<Record<string, string>>,
  ): Promise<number> {
    const wire = headers();
    for (const [name, value] of Object.entries(extra)) {
      wire.set(name, value);
    }
    const answer = await this.#bus.nc.request(subject, payload, { headers: wire, timeout: 5_000 });
    return answer.json<{ seq: number }>().seq;
  }
}

/** The inputs of a commit with a registry revision. */
export function inputsAt(base: Inputs | undefined, registryRevision: number): Inputs {
  const inputs = base === undefined ? create(InputsSchema) : clone(InputsSchema, base);
  inputs.registryRevision = BigInt(registryRevision);
  return inputs;
}

/** Ids of workloads that all belong to one partition. */
export function workloadsOf(partition: number, count: number): string[] {
  const found: string[] = [];
  for (let index = 0; found.length < count; index += 1) {
    const id = `w${index}`;
    if (partitionOf(id) === partition) {
      found.push(id);
    }
  }
  return found;
}
