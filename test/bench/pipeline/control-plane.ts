import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { api, type Bus, BusError, ensureTopology, partitionOf } from "@ringwall/bus";
import { addressOf, eventually } from "@ringwall/testkit";
import {
  CommitRequestSchema,
  CommitResponseSchema,
  type FilePut,
  FilePutSchema,
  Layer,
  Presence,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
  ServiceStatusRequestSchema,
  ServiceStatusResponseSchema,
  WorkloadRecordSchema,
} from "@ringwall/wire";

/** Sizes of the estate. */
export interface PlaneSizes {
  readonly workloads: number;
  readonly classes: number;
}

const SERVICES = ["renderer", "version-keeper"] as const;
/** Registry records on their way at once. */
const IN_FLIGHT = 500;
const READY_DEADLINE_MS = 120_000;
/** Streams that a commit is followed through. */
const FOLLOWED = ["RENDERED", "CONTENT", "VERSIONS"] as const;

/** A renderer and a version-keeper with an estate in REGISTRY. */
export class ControlPlane {
  readonly #bus: Bus;
  readonly #url: string;
  readonly #sizes: PlaneSizes;
  readonly #services = new Map<string, ChildProcess>();
  #head: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(bus: Bus, url: string, sizes: PlaneSizes) {
    this.#bus = bus;
    this.#url = url;
    this.#sizes = sizes;
  }

  /** Fills REGISTRY and starts the services. */
  async start(): Promise<void> {
    await ensureTopology(this.#bus, { replicas: 1 });
    for (let first = 0; first < this.#sizes.workloads; first += IN_FLIGHT) {
      const last = Math.min(first + IN_FLIGHT, this.#sizes.workloads);
      const numbers = Array.from({ length: last - first }, (_, index) => first + index);
      await Promise.all(numbers.map((number) => this.#register(number)));
    }
    for (const service of SERVICES) {
      this.#services.set(service, this.#spawn(service));
    }
    await eventually(
      "both services",
      () => this.#statuses(),
      (names) => SERVICES.every((service) => names.has(service)),
      READY_DEADLINE_MS,
    );
  }

  /** Ends the services. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#services.values(), (service) => end(service, "SIGTERM")));
  }

  /** Ends the renderer as a crash would. */
  async killRenderer(): Promise<void> {
    const renderer = this.#services.get("renderer");
    if (renderer !== undefined) {
      await end(renderer, "SIGKILL");
    }
  }

  /** Starts another renderer. */
  startRenderer(): void {
    this.#services.set("renderer", this.#spawn("renderer"));
  }

  /** Commits the rulesets of every class with another port; the sequence in CONFIG. */
  async commit(port: number): Promise<bigint> {
    const puts: FilePut[] = [];
    for (let each = 0; each < this.#sizes.classes; each++) {
      const path = `ruleset/class-${each}/ruleset.yaml`;
      puts.push(await this.#putFile(path, rulesetText(each, port)));
    }
    return await this.#commit(puts);
  }

  /** Commits a service that no rule names; the sequence in CONFIG. */
  async commitService(name: string): Promise<bigint> {
    const text = `kind: Service\nname: ${name}\nentries:\n  - {protocol: tcp, ports: [80]}\n`;
    return await this.#commit([await this.#putFile(`service/${name}/service.yaml`, text)]);
  }

  async #commit(puts: readonly FilePut[]): Promise<bigint> {
    const { result } = await api(this.#bus).call(
      "config",
      "commit",
      CommitRequestSchema,
      CommitResponseSchema,
      {
        expectedParent: this.#head,
        author: "bench",
        message: "",
        puts: [...puts],
        environment: "bench",
      },
      { timeoutMs: 30_000 },
    );
    if (result.case !== "accepted" || result.value.inputs === undefined) {
      throw new Error(`the commit was answered by ${result.case}: ${JSON.stringify(result.value)}`);
    }
    this.#head = new Uint8Array(result.value.inputs.commitId);
    return result.value.inputs.configSequence;
  }

  /** Messages and bytes that the followed streams ever took. */
  async stored(): Promise<{ messages: number; bytes: number }> {
    let messages = 0;
    let bytes = 0;
    for (const stream of FOLLOWED) {
      const { state } = await this.#bus.jsm.streams.info(this.#bus.names.stream(stream));
      messages += state.last_seq;
      bytes += state.bytes;
    }
    return { messages, bytes };
  }

  async #statuses(): Promise<Set<string>> {
    try {
      const answers = await api(this.#bus).callAll(
        "service",
        "status",
        ServiceStatusRequestSchema,
        ServiceStatusResponseSchema,
        {},
      );
      return new Set(answers.map(({ service }) => service));
    } catch (error) {
      if (error instanceof BusError && error.code === "no-responders") {
        return new Set();
      }
      throw error;
    }
  }

  async #register(number: number): Promise<void> {
    const id = `w-${number}`;
    const record = create(WorkloadRecordSchema, {
      id,
      labels: { class: `class-${number % this.#sizes.classes}` },
      addresses: [addressOf(number)],
      presence: Presence.LIVE,
    });
    const subject = this.#bus.names.registryWorkload(partitionOf(id), id);
    await this.#bus.nc.request(subject, toBinary(WorkloadRecordSchema, record), {
      timeout: 30_000,
    });
  }

  #spawn(service: string): ChildProcess {
    const main = fileURLToPath(
      new URL(`../../../services/${service}/src/main.ts`, import.meta.url),
    );
    return spawn(process.execPath, [main], {
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        ...process.env,
        RINGWALL_NATS_URL: this.#url,
        RINGWALL_ENVIRONMENT: "bench",
        RINGWALL_LOG_LEVEL: "error",
      },
    });
  }

  async #putFile(path: string, text: string): Promise<FilePut> {
    const data = new TextEncoder().encode(text);
    const sha256 = new Uint8Array(createHash("sha256").update(data).digest());
    const { error } = await api(this.#bus).call(
      "config",
      "blob",
      PutBlobRequestSchema,
      PutBlobResponseSchema,
      { sha256, index: 0, count: 1, data },
      { timeoutMs: 30_000 },
    );
    if (error !== undefined) {
      throw new Error(`a blob was refused: ${error.message}`);
    }
    const size = BigInt(data.length);
    return create(FilePutSchema, { layer: Layer.CORE, path: `policy/${path}`, sha256, size });
  }
}

function rulesetText(each: number, port: number): string {
  return [
    "kind: Ruleset",
    `name: class-${each}`,
    `scope: class=class-${each}`,
    "rules:",
    "  - name: own",
    "    peers:",
    `      - workloads: class=class-${each}`,
    "    entries:",
    `      - {protocol: tcp, ports: [${port}]}`,
    "",
  ].join("\n");
}

async function end(service: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) {
    return;
  }
  const ended = new Promise((resolve) => service.once("close", resolve));
  service.kill(signal);
  await ended;
}
