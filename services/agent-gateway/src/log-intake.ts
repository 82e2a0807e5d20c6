import { fromBinary } from "@bufbuild/protobuf";
import { childTrace, type Moment, type StoredRecord } from "@ringwall/actor";
import { ConfigCheckpointSchema, VersionRecordSchema } from "@ringwall/wire";
import type { Line } from "./line.ts";
import type { ReaderName } from "./loader.ts";
import { type GatewayParts, groundKey } from "./parts.ts";
import type { Delivery } from "./session/session.ts";
import type { Change } from "./versions/partition.ts";
import { toHex } from "./wire/hex.ts";

const NO_BYTES = new Uint8Array();

/** Pause before the beginning of an epoch, which a checkpoint may have by then, is looked for again. */
const LOOK_AGAIN_MS = 5000;

/** Takes what the logs say, and puts the sessions that it concerns in line. */
export class LogIntake {
  readonly #parts: GatewayParts;
  readonly #line: Line;
  /** Epochs whose beginning was looked for from the start of the log, by partition. */
  readonly #lookedFor = new Map<number, bigint>();
  #lookedMs = 0;

  constructor(parts: GatewayParts, line: Line) {
    this.#parts = parts;
    this.#line = line;
  }

  /** Takes a record of one of the logs. */
  take(reader: string, record: StoredRecord, moment: Moment): void {
    const { commits, registry, ground, checkpoints, book, out } = this.#parts;
    switch (reader) {
      case "config":
        if (!commits.take(record)) {
          out.count("ringwall_malformed_records_total", { log: "config" });
        }
        ground.recheck();
        this.#line.addBlocked();
        break;
      case "registry": {
        const changed = registry.take(record);
        const session = changed === undefined ? undefined : book.get(changed);
        if (session !== undefined) {
          this.#parts.reports.known(session.workload);
          this.#line.add(session);
        }
        if (ground.recheck()) {
          this.#line.addBlocked();
        }
        break;
      }
      case "registry-owners":
        registry.owners.take(record);
        break;
      case "checkpoints":
        checkpoints.take(record);
        break;
      case "checkpoints-config":
        this.#takeConfigCheckpoint(record);
        break;
      case "checkpoints-watch":
        this.#takeNewer(moment);
        break;
      case "versions":
        this.#takeVersions(record, moment);
        break;
      case "content":
        this.#arrived(record);
        break;
      case "status": {
        this.#takeStatus(record, moment);
        break;
      }
      default:
        break;
    }
  }

  #takeConfigCheckpoint(record: StoredRecord): void {
    const { ground, out } = this.#parts;
    const checkpoint = readConfigCheckpoint(record.payload);
    if (checkpoint === undefined) {
      out.count("ringwall_malformed_records_total", { log: "checkpoints" });
      return;
    }
    const { inputs, registryCreatedUnixNs } = checkpoint;
    ground.expectRegistry(registryCreatedUnixNs, inputs?.generation ?? 0n);
    this.#line.addBlocked();
  }

  /** A newer checkpoint may say otherwise than the one that holds this gateway. */
  #takeNewer(moment: Moment): void {
    const { loader, ground } = this.#parts;
    if (loader.watchesCheckpoints && ground.isAgainstCheckpoints) {
      loader.readWhole();
      this.lost("versions", "there is a newer checkpoint than the one that holds", moment);
    }
  }

  #takeVersions(record: StoredRecord, moment: Moment): void {
    const { partitions, ground, book, out, pusher, events } = this.#parts;
    const index = Number(record.subject.slice(record.subject.lastIndexOf(".") + 1));
    const partition = partitions[index];
    const content = readVersionRecord(record.payload);
    if (partition === undefined || content === undefined) {
      out.count("ringwall_malformed_records_total", { log: "versions" });
      return;
    }
    const formerConfig = partition.inputs?.configSequence ?? 0n;
    const change = partition.take(content, record.sequence);
    if (partition.unreadEpoch > (this.#lookedFor.get(index) ?? 0n)) {
      // The log went back and grew again beneath what a checkpoint covers.
      this.#lookedFor.set(index, partition.unreadEpoch);
      this.#readWhole(partition.unreadEpoch, moment);
      return;
    }
    ground.name(groundKey(index), partition.inputs, moment.monotonicMs);
    events.reached(record.sequence);
    const commit = partition.inputs?.configSequence ?? 0n;
    const parent = record.headers.traceparent;
    this.#concern(
      change,
      {
        parent,
        trace: parent === undefined ? undefined : childTrace(parent, moment.random),
        commit: parent === undefined ? "" : toHex(partition.inputs?.commitId ?? NO_BYTES),
        partition: index,
        sequence: record.sequence,
        sinceMs: moment.monotonicMs,
        seenUnixMs: moment.wallMs,
        sinceUnixMs: Math.min(record.timeUnixMs, moment.wallMs),
        commitUnixMs: commit > formerConfig ? (this.#parts.commits.timeOf(Number(commit)) ?? 0) : 0,
        open: 0,
        acked: 0,
      },
      moment,
    );
    if (change.all) {
      for (const session of book.sessions) {
        if (session.partition === index) {
          this.#line.add(session);
        }
      }
    }
    for (const session of pusher.blocked) {
      if (session.partition === index) {
        this.#line.add(session);
      }
    }
  }

  /** Sessions that a record concerns are judged; those who watch are told. */
  #concern(change: Change, delivery: Delivery, moment: Moment): void {
    const { book, deliveries, events, partitions } = this.#parts;
    const epoch = partitions[delivery.partition]?.epoch ?? 0n;
    const { monotonicMs, wallMs } = moment;
    for (const advance of change.advances) {
      const session = book.get(advance.workload);
      if (session !== undefined) {
        deliveries.assign(session, delivery, moment);
        this.#line.add(session);
      }
      if (events.watched) {
        events.step(advance, epoch, monotonicMs, wallMs);
      }
    }
    for (const workload of change.touched) {
      const session = book.get(workload);
      if (session !== undefined) {
        this.#line.add(session);
      }
    }
  }

  /** A reader has come to the end of its log. */
  caughtUp(reader: string, sequence: number, moment: Moment): void {
    const { loader, registry, ground } = this.#parts;
    if (reader === "registry") {
      registry.reached(sequence);
    }
    // The reader ids that are followed are exactly these.
    loader.caughtUp(reader as ReaderName);
    this.nameAll(moment);
    ground.recheck();
    this.#line.addBlocked();
  }

  /** Reads VERSIONS again while the beginning of an epoch is neither in the log nor in a checkpoint. */
  lookAgain(moment: Moment): void {
    const { loader, partitions } = this.#parts;
    const partition = partitions.find(({ unreadEpoch }) => unreadEpoch > 0n);
    const waitedMs = moment.monotonicMs - this.#lookedMs;
    if (partition !== undefined && loader.isDone && waitedMs >= LOOK_AGAIN_MS) {
      this.#readWhole(partition.unreadEpoch, moment);
    }
  }

  /** What was read of VERSIONS was held against another one: it is read again. */
  replaced(moment: Moment): void {
    this.#parts.loader.readWhole();
    this.lost("versions", "it was replaced while it was read", moment);
  }

  #readWhole(epoch: bigint, moment: Moment): void {
    this.#lookedMs = moment.monotonicMs;
    this.#parts.loader.readWhole();
    this.lost("versions", `the beginning of epoch ${epoch} was not read`, moment);
  }

  /** A log is another one or went back: what was read of it goes, and it is read again. */
  lost(reader: string, detail: string, moment: Moment): void {
    const { loader, commits, registry, peers, pages, ground, partitions, out } = this.#parts;
    const fields = { reader, detail };
    out.add({
      kind: "log",
      level: "warn",
      message: "a log is another one; reading it again",
      fields,
    });
    switch (reader) {
      case "config":
        commits.clear();
        break;
      case "registry":
        registry.clear();
        for (const effect of ground.ask(moment.monotonicMs, true)) {
          out.add(effect);
        }
        break;
      case "registry-owners":
        registry.owners.clear();
        break;
      case "status":
        peers.clear();
        pages.touchAll();
        break;
      case "versions":
        // It may have grown past what was read of it: only from its beginning is it understood.
        for (const partition of partitions) {
          partition.reset();
        }
        ground.clear();
        break;
      case "checkpoints-watch":
        if (this.#isInDoubt()) {
          // The keepers, too, judge by the checkpoints that are there now, and may find no fault.
          loader.readWhole();
          this.lost("versions", `its checkpoints are others: ${detail}`, moment);
          return;
        }
        break;
      default:
        break;
    }
    // The reader ids that are followed are exactly these.
    loader.lost(reader as ReaderName);
  }

  /** Names what the partitions' last records name, to be compared with CONFIG and REGISTRY. */
  nameAll(moment: Moment): void {
    for (const [index, partition] of this.#parts.partitions.entries()) {
      this.#parts.ground.name(groundKey(index), partition.inputs, moment.monotonicMs);
    }
  }

  /** True if something that checkpoints may have said keeps heads from being pushed. */
  #isInDoubt(): boolean {
    const { loader, ground, partitions } = this.#parts;
    return !loader.isDone || ground.isInDoubt || partitions.some(({ blocked }) => blocked !== "");
  }

  #arrived(record: StoredRecord): void {
    const digest = this.#parts.objects.pass(record);
    if (digest !== undefined) {
      this.#parts.bodies.arrived(digest);
    }
  }

  #takeStatus(record: StoredRecord, moment: Moment): void {
    const { peers, events } = this.#parts;
    const { monotonicMs, wallMs } = moment;
    const workloads = peers.take(record, monotonicMs, wallMs);
    if (workloads !== undefined && events.watched) {
      // Acknowledgements that other gateways took are seen in their pages.
      for (const status of workloads) {
        events.peerAck(status, monotonicMs, wallMs);
      }
    }
  }
}

function readConfigCheckpoint(payload: Uint8Array) {
  try {
    return fromBinary(ConfigCheckpointSchema, payload);
  } catch {
    return undefined;
  }
}

function readVersionRecord(payload: Uint8Array) {
  try {
    return fromBinary(VersionRecordSchema, payload).record;
  } catch {
    return undefined;
  }
}
