import type { Moment } from "@ringwall/actor";
import { PARTITIONS, partitionOf, type ServiceEnv } from "@ringwall/bus";
import { Bodies } from "./content/bodies.ts";
import { Deltas } from "./content/deltas.ts";
import { Objects } from "./content/objects.ts";
import { Commits } from "./ground/commits.ts";
import { Ground } from "./ground/ground.ts";
import { RegistryIds } from "./ground/registry-ids.ts";
import { Loader } from "./loader.ts";
import { Outbox } from "./outbox.ts";
import { Book } from "./session/book.ts";
import { Claims } from "./session/claims.ts";
import { Deliveries } from "./session/deliveries.ts";
import { GatewayWatch } from "./session/gateway-watch.ts";
import type { View } from "./session/judge.ts";
import { Pusher } from "./session/pusher.ts";
import { Reports } from "./session/reports.ts";
import type { Session } from "./session/session.ts";
import type { HeadView } from "./status/head-view.ts";
import { Pages } from "./status/pages.ts";
import { Peers } from "./status/peers.ts";
import { Queries } from "./status/queries.ts";
import { Checkpoints } from "./versions/checkpoints.ts";
import { Partition } from "./versions/partition.ts";
import { VersionEvents } from "./watch/version-events.ts";

/** What a gateway is made of. */
export interface GatewayParts {
  readonly env: ServiceEnv;
  readonly heartbeatMs: number;
  readonly out: Outbox;
  readonly commits: Commits;
  readonly registry: RegistryIds;
  readonly ground: Ground;
  readonly checkpoints: Checkpoints;
  readonly partitions: readonly Partition[];
  readonly loader: Loader;
  readonly objects: Objects;
  readonly bodies: Bodies;
  readonly deltas: Deltas;
  readonly pages: Pages;
  readonly peers: Peers;
  readonly watch: GatewayWatch;
  readonly book: Book;
  readonly deliveries: Deliveries;
  readonly claims: Claims;
  readonly reports: Reports;
  readonly pusher: Pusher;
  readonly queries: Queries;
  readonly events: VersionEvents;
}

const START: Moment = { wallMs: 0, monotonicMs: 0, random: () => 0 };

/** The key under which a partition's inputs are named. */
export function groundKey(partition: number): string {
  return GROUND_KEYS[partition] ?? "";
}

const GROUND_KEYS = Array.from({ length: PARTITIONS }, (_unused, index) => `partition ${index}`);

/** Puts a gateway together. */
export function createParts(env: ServiceEnv, heartbeatMs: number): GatewayParts {
  const { names, instance } = env;
  const out = new Outbox();
  const commits = new Commits();
  const registry = new RegistryIds(names.registryAll.slice(0, -1));
  const ground = new Ground(commits, registry, env.environment);
  const checkpoints = new Checkpoints(names.checkpoint("version", 0, "a", 0).slice(0, -13));
  const partitions = Array.from({ length: PARTITIONS }, () => new Partition());
  const partition = (index: number): Partition => {
    const found = partitions[index];
    if (found === undefined) {
      throw new RangeError(`partition ${index} is not one of 0 to ${PARTITIONS - 1}`);
    }
    return found;
  };
  const loader = new Loader({ names, out, ground, checkpoints, partitions });
  const objects = new Objects(names.content);
  const bodies = new Bodies(objects);
  const deltas = new Deltas(bodies);
  const headOf = (workload: string, index: number): HeadView => {
    const { epoch, heads } = partition(index);
    const head = heads.get(workload);
    const mode = bodies.modeOf(head?.digest ?? "");
    return { epoch, version: head === undefined || head.digest === "" ? 0 : head.version, mode };
  };
  const sessionHead = (session: Session) => headOf(session.workload, session.partition);
  const pages = new Pages(out, names, instance, sessionHead);
  const watch = new GatewayWatch(instance);
  const peers = new Peers(names.statusAll.slice(0, -1), instance, (gateway) =>
    watch.listed(gateway),
  );
  const book = new Book(pages);
  const deliveries = new Deliveries(out);
  const claims = new Claims(out, names, partition);
  const view = (session: Session): View => ({
    loading: loader.missing,
    held: ground.held,
    partition: partition(session.partition),
    settled: ground.isSettled(groundKey(session.partition)),
    isOverruled: (partition(session.partition).inputs?.generation ?? 0n) < commits.generation,
    registered: registry.has(session.workload),
    hasCommit: (inputs) => commits.has(inputs),
    mayHaveRegistry: (inputs) =>
      inputs.generation !== commits.generation || !registry.owners.contradict(inputs),
  });
  const onChange = (session: Session) => pages.touch(session);
  const pusher = new Pusher(
    { names, out, bodies, deltas, deliveries, claims, view, onChange },
    START,
  );
  const queries = new Queries({
    gateway: instance,
    heartbeatMs,
    book,
    peers,
    partitions,
    head: (workload) => headOf(workload, partitionOf(workload)),
    generation: () => commits.generation,
    held: () => ground.held,
  });
  return {
    env,
    heartbeatMs,
    out,
    commits,
    registry,
    ground,
    checkpoints,
    partitions,
    loader,
    objects,
    bodies,
    deltas,
    pages,
    peers,
    watch,
    book,
    deliveries,
    claims,
    reports: new Reports(out, names),
    pusher,
    queries,
    events: new VersionEvents(names, instance, deltas, bodies),
  };
}
