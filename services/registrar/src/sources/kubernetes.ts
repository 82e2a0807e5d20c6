import { setTimeout as delay } from "node:timers/promises";
import type { Api } from "@ringwall/bus";
import { KubernetesModel } from "@ringwall/sources";
import {
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  WorkloadSource,
} from "@ringwall/wire";
import type { Cluster } from "./cluster.ts";
import { feedModel } from "./cluster-feed.ts";
import { RegistryWriter } from "./registry-writer.ts";

/** Changes within this time are written together. */
const GATHER_MS = 50;

/** How often it is looked whether this instance is the one that reads the cluster. */
const LOOK_MS = 1_000;

/** Removals at the first reading that are never too many, and the share that is. */
const REMOVE_FLOOR = 2;
const REMOVE_SHARE = 0.3;

const LIST_RETRY_MS = 1_000;

/** What the adapter is made of. */
export interface KubernetesAdapterParts {
  readonly cluster: Cluster;
  readonly api: Api;
  /** True while this instance is the one of all that reads the cluster. */
  readonly isActive: () => boolean;
  readonly log: (level: "info" | "warn" | "error", message: string, fields: object) => void;
}

/**
 * Keeps the registry like a cluster, in the one registrar instance that is active: pods become
 * workloads, and what the cluster no longer has is removed. Where the first reading would remove a
 * mass of workloads none is removed: an empty answer is more often a fault than an empty cluster.
 */
export async function runKubernetes(
  parts: KubernetesAdapterParts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    if (parts.isActive()) {
      const turn = new AbortController();
      const ended = AbortSignal.any([signal, turn.signal]);
      const running = new KubernetesTurn(parts, ended).run();
      while (!ended.aborted && parts.isActive()) {
        await pause(LOOK_MS, ended);
      }
      turn.abort();
      await running;
    } else {
      await pause(LOOK_MS, signal);
    }
  }
}

/** One stretch of time in which this instance is active. */
class KubernetesTurn {
  readonly #parts: KubernetesAdapterParts;
  readonly #signal: AbortSignal;
  readonly #model = new KubernetesModel();
  readonly #writer: RegistryWriter;
  #gathering: NodeJS.Timeout | undefined;
  #complete = false;

  constructor(parts: KubernetesAdapterParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    this.#writer = new RegistryWriter(parts.api, signal, ({ id, error, problems }) => {
      if (error !== undefined || problems.length > 0) {
        const codes = problems.map((problem) => problem.code);
        const fields = { workload: id, problems: codes, error: error?.message ?? "" };
        parts.log("warn", "a pod was not taken as it is", fields);
      }
    });
  }

  async run(): Promise<void> {
    await feedModel(
      this.#parts.cluster,
      this.#model,
      {
        changed: () => this.#changed(),
        synced: () => void this.#synced(),
        failed: (kind, detail) =>
          this.#parts.log("warn", "Kubernetes can't be read; trying again", { kind, detail }),
      },
      this.#signal,
    );
    clearTimeout(this.#gathering);
  }

  /** Nothing is written before the whole cluster was read: pods without their services are half. */
  #changed(): void {
    if (this.#complete && this.#gathering === undefined && !this.#signal.aborted) {
      this.#gathering = setTimeout(() => this.#flush(), GATHER_MS);
    }
  }

  #flush(): void {
    this.#gathering = undefined;
    const { reports, removes } = this.#model.takeChanges();
    for (const report of reports) {
      this.#writer.report(report);
    }
    for (const id of removes) {
      this.#writer.remove(id);
    }
  }

  async #synced(): Promise<void> {
    const stored = await this.#storedPods();
    if (this.#signal.aborted) {
      return;
    }
    const present = new Set(this.#model.reports().map((report) => report.id));
    const gone = stored.filter((id) => !present.has(id));
    this.#complete = true;
    this.#flush();
    if (gone.length > REMOVE_FLOOR && gone.length > REMOVE_SHARE * stored.length) {
      this.#parts.log("error", "too many pods are gone at once: none is removed", {
        gone: gone.length,
        stored: stored.length,
        what_to_do: "deregister them, or look why the cluster answers so little",
      });
      return;
    }
    for (const id of gone) {
      this.#writer.remove(id);
    }
    this.#parts.log("info", "Kubernetes was read", { pods: present.size, removed: gone.length });
  }

  async #storedPods(): Promise<string[]> {
    const ids: string[] = [];
    let after = "";
    while (!this.#signal.aborted) {
      try {
        const page = await this.#parts.api.call(
          "workload",
          "list",
          ListWorkloadsRequestSchema,
          ListWorkloadsResponseSchema,
          { after, limit: 5_000 },
        );
        ids.push(
          ...page.workloads
            .filter((record) => record.source === WorkloadSource.KUBERNETES)
            .map((record) => record.id),
        );
        const last = page.workloads.at(-1);
        if (!page.more || last === undefined) {
          return ids;
        }
        after = last.id;
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        this.#parts.log("warn", "the registry can't be listed; trying again", { detail });
        await pause(LIST_RETRY_MS, this.#signal);
      }
    }
    return ids;
  }
}

async function pause(forMs: number, signal: AbortSignal): Promise<void> {
  await delay(forMs, undefined, { signal }).catch(() => undefined);
}
