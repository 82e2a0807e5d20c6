import { createHash } from "node:crypto";
import {
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  type Api,
  api,
  type Bus,
  connectBus,
  partitionOf,
  type RunningService,
  serviceOptions,
  startService,
} from "@ringwall/bus";
import { eventually, type NatsServer } from "@ringwall/testkit";
import {
  CommitRequestSchema,
  type CommitResponse,
  CommitResponseSchema,
  GetPolicyRequestSchema,
  type GetPolicyResponse,
  GetPolicyResponseSchema,
  GetTreeRequestSchema,
  type GetTreeResponse,
  GetTreeResponseSchema,
  type Inputs,
  Layer,
  ListHistoryRequestSchema,
  type ListHistoryResponse,
  ListHistoryResponseSchema,
  PutBlobRequestSchema,
  PutBlobResponseSchema,
  type VersionRecord,
  VersionRecordSchema,
} from "@ringwall/wire";
import { createKeeper } from "../keeper.ts";
import { OWN_OPTIONS } from "../options.ts";

/** One file of a commit; no text means that it is deleted. */
export interface TestFile {
  readonly path: string;
  readonly text?: string;
  readonly layer?: Layer;
}

/** A document of the tree: a service with one TCP port. */
export function serviceFile(name: string, port: number | string): TestFile {
  const text = `kind: Service\nname: ${name}\nentries:\n  - protocol: tcp\n    ports: ["${port}"]\n`;
  return { path: `policy/service/${name}/service.yaml`, text };
}

/** Keepers of one control plane and a client of their operations. */
export class Rig {
  readonly nats: NatsServer;
  readonly bus: Bus;
  readonly api: Api;
  readonly lines: string[] = [];
  readonly #keepers = new Set<RunningService>();

  private constructor(nats: NatsServer, bus: Bus) {
    this.nats = nats;
    this.bus = bus;
    this.api = api(bus);
  }

  /** Connects to a server. */
  static async connect(nats: NatsServer): Promise<Rig> {
    return new Rig(nats, await connectBus({ url: nats.url, name: "rig" }));
  }

  /** Starts a keeper in this process. */
  async keeper(flags: Readonly<Record<string, string>> = {}): Promise<RunningService> {
    const argv = Object.entries({ "nats-url": this.nats.url, env: "prod", ...flags });
    const keeper = await startService({
      service: "version-keeper",
      description: "Keeps versions",
      options: serviceOptions(
        argv.flatMap(([flag, value]) => [`--${flag}`, value]),
        {},
        OWN_OPTIONS,
      ),
      create: createKeeper,
      logDestination: { write: (line: string) => this.lines.push(line) },
    });
    this.#keepers.add(keeper);
    return keeper;
  }

  /** Starts the server again and waits until the rig's own connection is back. */
  async serverBack(): Promise<void> {
    await this.nats.restart();
    await this.bus.whenConnected(60_000);
  }

  /** Ends a keeper. */
  async end(keeper: RunningService): Promise<void> {
    this.#keepers.delete(keeper);
    await keeper.stop();
  }

  /** Ends everything but the server. */
  async close(): Promise<void> {
    await Promise.all([...this.#keepers].map((keeper) => this.end(keeper)));
    await this.bus.close();
  }

  /** Waits until a keeper says exactly this of itself; empty means ready. */
  async says(keeper: RunningService, text: string | RegExp, deadlineMs = 60_000): Promise<string> {
    return eventually(
      `keeper says ${String(text)}`,
      () => keeper.problems().join("; "),
      (problems) => (typeof text === "string" ? problems === text : text.test(problems)),
      deadlineMs,
    );
  }

  /** Stores a blob and returns its digest. */
  async blob(content: string | Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const data = new Uint8Array(Buffer.from(content));
    const sha256 = new Uint8Array(createHash("sha256").update(data).digest());
    const count = Math.max(1, Math.ceil(data.length / (512 * 1024)));
    for (let index = 0; index < count; index += 1) {
      const part = data.slice(index * 512 * 1024, (index + 1) * 512 * 1024);
      const request = { sha256, index, count, data: part };
      const answer = await this.call("blob", PutBlobRequestSchema, PutBlobResponseSchema, request);
      if (answer.error !== undefined) {
        throw new Error(`${answer.error.code}: ${answer.error.message}`);
      }
    }
    return sha256;
  }

  /** Stores files and commits them on top of `parent`, by default the head. */
  async commit(
    files: readonly TestFile[],
    options: { parent?: Uint8Array; dryRun?: boolean; environment?: string; author?: string } = {},
  ): Promise<CommitResponse> {
    const puts = [];
    for (const { path, text, layer = Layer.CORE } of files) {
      if (text !== undefined) {
        const sha256 = await this.blob(text);
        puts.push({ layer, path, sha256, size: BigInt(Buffer.byteLength(text)) });
      }
    }
    const deletes = files
      .filter(({ text }) => text === undefined)
      .map(({ path, layer = Layer.CORE }) => ({ layer, path }));
    const parent = options.parent ?? (await this.tree()).commit?.inputs?.commitId;
    return this.call("commit", CommitRequestSchema, CommitResponseSchema, {
      expectedParent: new Uint8Array(parent ?? []),
      author: options.author ?? "test",
      message: "change",
      puts,
      deletes,
      environment: options.environment ?? "prod",
      dryRun: options.dryRun ?? false,
    });
  }

  /** Reads the live tree. */
  tree(commitId: Uint8Array = new Uint8Array(0)): Promise<GetTreeResponse> {
    const request = { commitId: new Uint8Array(commitId) };
    return this.call("tree", GetTreeRequestSchema, GetTreeResponseSchema, request);
  }

  /** Makes the first commit and returns its inputs. */
  async firstCommit(): Promise<Inputs> {
    await this.commit([serviceFile("web", 443)]);
    return this.headInputs();
  }

  /** Inputs of the head commit. */
  async headInputs(): Promise<Inputs> {
    const inputs = (await this.tree()).commit?.inputs;
    if (inputs === undefined) {
      throw new Error("CONFIG has no commit");
    }
    return inputs;
  }

  /** Appends values to REGISTRY until its last sequence is this. */
  async registryTo(sequence: number): Promise<void> {
    for (let last = 0; last < sequence; ) {
      const subject = this.bus.names.registryWorkload(0, `filler-${last}`);
      const answer = await this.bus.nc.request(subject, new Uint8Array(1), { timeout: 5_000 });
      last = answer.json<{ seq: number }>().seq;
    }
  }

  /** Records of a partition's log, in order. */
  async versions(partition: number): Promise<VersionRecord[]> {
    const stream = this.bus.names.stream("VERSIONS");
    const { state } = await this.bus.jsm.streams.info(stream);
    const records: VersionRecord[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq && seq > 0; seq += 1) {
      const message = await this.bus.jsm.streams.getMessage(stream, { seq });
      if (message?.subject === this.bus.names.version(partition)) {
        records.push(fromBinary(VersionRecordSchema, message.data));
      }
    }
    return records;
  }

  /** Steps of a workload as the log has them: `from>to`, and `gone@v` for a tombstone. */
  async steps(workload: string): Promise<string[]> {
    const found: string[] = [];
    for (const { record } of await this.versions(partitionOf(workload))) {
      if (record.case !== "batch") {
        continue;
      }
      for (const { advances } of record.value.steps) {
        for (const { workload: id, fromVersion, toVersion } of advances) {
          if (id === workload) {
            found.push(`${fromVersion}>${toVersion}`);
          }
        }
      }
      for (const { workload: id, version } of record.value.tombstones) {
        if (id === workload) {
          found.push(`gone@${version}`);
        }
      }
    }
    return found;
  }

  /** Waits until a workload's steps are these. */
  async hasSteps(workload: string, ...wanted: string[]): Promise<void> {
    await eventually(
      `steps of ${workload}: ${wanted.join(" ")}`,
      () => this.steps(workload),
      (steps) => steps.join(" ") === wanted.join(" "),
      60_000,
    );
  }

  /** Reads a policy. */
  policy(workload: string, version = 0, part = 0): Promise<GetPolicyResponse> {
    const request = { workload, version: BigInt(version), part };
    const options = { timeoutMs: 20_000 };
    const [ask, answer] = [GetPolicyRequestSchema, GetPolicyResponseSchema];
    return this.api.call("policy", "get", ask, answer, request, options);
  }

  /** Reads a workload's history. */
  history(workload: string, limit = 0): Promise<ListHistoryResponse> {
    const options = { timeoutMs: 20_000 };
    const [ask, answer] = [ListHistoryRequestSchema, ListHistoryResponseSchema];
    return this.api.call("policy", "history", ask, answer, { workload, limit }, options);
  }

  /** Calls an operation on the configuration. */
  call<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    requestSchema: Request,
    responseSchema: Response,
    request: MessageInitShape<Request>,
  ): Promise<MessageShape<Response>> {
    const options = { timeoutMs: 20_000 };
    return this.api.call("config", verb, requestSchema, responseSchema, request, options);
  }
}
