import { setTimeout as delay } from "node:timers/promises";
import type { KubernetesModel } from "@ringwall/sources";
import { type Cluster, KINDS, type Kind } from "./cluster.ts";

const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 30_000;

/** What a feed tells. */
export interface FeedEvents {
  /** The model may have changed. */
  changed(): void;
  /** Every kind has been listed once: the model is the whole cluster. */
  synced(): void;
  /** A kind could not be read; it is tried again. */
  failed(kind: Kind, detail: string): void;
}

/** Keeps a model like a cluster: lists each kind, then watches it from there, for ever. */
export async function feedModel(
  cluster: Cluster,
  model: KubernetesModel,
  events: FeedEvents,
  signal: AbortSignal,
): Promise<void> {
  const open = new Set<Kind>(KINDS);
  const listed = (kind: Kind) => {
    if (open.delete(kind) && open.size === 0) {
      events.synced();
    }
    events.changed();
  };
  await Promise.all(
    KINDS.map((kind) => new KindFeed(cluster, model, events, kind, listed).run(signal)),
  );
}

class KindFeed {
  readonly #cluster: Cluster;
  readonly #model: KubernetesModel;
  readonly #events: FeedEvents;
  readonly #kind: Kind;
  readonly #listed: (kind: Kind) => void;
  #backoffMs = BACKOFF_FIRST_MS;

  constructor(
    cluster: Cluster,
    model: KubernetesModel,
    events: FeedEvents,
    kind: Kind,
    listed: (kind: Kind) => void,
  ) {
    this.#cluster = cluster;
    this.#model = model;
    this.#events = events;
    this.#kind = kind;
    this.#listed = listed;
  }

  async run(signal: AbortSignal): Promise<void> {
    let version: string | undefined;
    while (!signal.aborted) {
      try {
        version ??= await this.#list(signal);
        version = await this.#watch(version, signal);
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        this.#events.failed(this.#kind, error instanceof Error ? error.message : String(error));
        await this.#pause(signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { items, resourceVersion } = await this.#cluster.list(this.#kind, signal);
    for (const item of items) {
      this.#model.put(item);
    }
    this.#model.retain(this.#kind === "Pod" ? "pod" : "service", uidsOf(items));
    this.#backoffMs = BACKOFF_FIRST_MS;
    this.#listed(this.#kind);
    return resourceVersion;
  }

  /** Watches from a version; returns where to go on, undefined to list again. */
  async #watch(version: string, signal: AbortSignal): Promise<string | undefined> {
    let heard = false;
    const end = await this.#cluster.watch(this.#kind, version, signal, ({ type, object }) => {
      heard = true;
      if (type === "DELETED") {
        this.#model.delete(object);
      } else {
        this.#model.put(object);
      }
      this.#events.changed();
    });
    if (heard) {
      this.#backoffMs = BACKOFF_FIRST_MS;
    }
    switch (end.kind) {
      case "expired":
        return undefined;
      case "failed":
        this.#events.failed(this.#kind, end.detail);
        await this.#pause(signal);
        return version;
      case "closed":
        if (!heard) {
          // A server that closes at once must not be asked in a loop.
          await this.#pause(signal);
        }
        return end.resourceVersion;
      default:
        return end satisfies never;
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const pauseMs = this.#backoffMs * (0.5 + Math.random() / 2);
    this.#backoffMs = Math.min(this.#backoffMs * 2, BACKOFF_MAX_MS);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function uidsOf(items: readonly unknown[]): Set<string> {
  return new Set(
    items.map((item) => {
      const { metadata } = Object(item) as {
        metadata?: { uid?: string; namespace?: string; name?: string };
      };
      return metadata?.uid ?? `${metadata?.namespace ?? "default"}/${metadata?.name ?? ""}`;
    }),
  );
}
