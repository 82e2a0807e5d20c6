import type { KubeConfig } from "@kubernetes/client-node";

/** Kinds that are read from a cluster. */
export const KINDS = ["Pod", "Service"] as const;

/** One of the kinds. */
export type Kind = (typeof KINDS)[number];

/** Objects in one page of a list. */
const PAGE = 500;

const PATHS: Readonly<Record<Kind, string>> = { Pod: "/api/v1/pods", Service: "/api/v1/services" };

/** A whole list of one kind. */
export interface ClusterList {
  readonly items: readonly unknown[];
  /** Where a watch goes on. */
  readonly resourceVersion: string;
}

/** A change of one object. */
export interface ClusterEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: unknown;
}

/** How a watch ended. */
export type WatchEnd =
  /** The server closed it as it does from time to time, or nothing was said for long. */
  | { readonly kind: "closed"; readonly resourceVersion: string }
  /** What it should go on from is no longer kept: list again. */
  | { readonly kind: "expired" }
  | { readonly kind: "failed"; readonly detail: string };

/** Reads of a cluster. */
export interface Cluster {
  /** Every object of a kind. Rejects when the server can't be asked. */
  list(kind: Kind, signal: AbortSignal): Promise<ClusterList>;
  /** Tells each change after a version until the watch ends. */
  watch(
    kind: Kind,
    resourceVersion: string,
    signal: AbortSignal,
    onEvent: (event: ClusterEvent) => void,
  ): Promise<WatchEnd>;
}

/** The cluster of the usual configuration: KUBECONFIG, ~/.kube/config, or the pod's own account. */
export async function defaultCluster(): Promise<Cluster> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  config.loadFromDefault();
  return clusterOf(config);
}

/** The cluster of a configuration. */
export async function clusterOf(config: KubeConfig): Promise<Cluster> {
  const { CoreV1Api, Watch } = await import("@kubernetes/client-node");
  const api = config.makeApiClient(CoreV1Api);
  const watch = new Watch(config);
  return {
    async list(kind, signal) {
      const items: unknown[] = [];
      let next: string | undefined;
      for (;;) {
        signal.throwIfAborted();
        const request = { limit: PAGE, ...(next === undefined ? {} : { _continue: next }) };
        const page =
          kind === "Pod"
            ? await api.listPodForAllNamespaces(request)
            : await api.listServiceForAllNamespaces(request);
        // The client turns times into dates and items of a list do not repeat their kind.
        const plain: unknown[] = JSON.parse(JSON.stringify(page.items));
        items.push(...plain.map((item) => Object.assign({ kind }, item)));
        next = page.metadata?._continue;
        if (next === undefined || next === "") {
          return { items, resourceVersion: page.metadata?.resourceVersion ?? "" };
        }
      }
    },
    watch: (kind, resourceVersion, signal, onEvent) =>
      watchOnce(
        (callback, done) => {
          const query = { resourceVersion, allowWatchBookmarks: true };
          return watch.watch(PATHS[kind], query, callback, done);
        },
        { kind, resourceVersion, signal, onEvent },
      ),
  };
}

interface WatchCall {
  readonly kind: Kind;
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ClusterEvent) => void;
}

type Begin = (
  callback: (phase: string, object: unknown) => void,
  done: (error: unknown) => void,
) => Promise<AbortController>;

function watchOnce(begin: Begin, { kind, signal, onEvent, ...call }: WatchCall): Promise<WatchEnd> {
  return new Promise((resolve) => {
    let { resourceVersion } = call;
    let expired = false;
    const take = (phase: string, object: unknown) => {
      if (phase === "ERROR") {
        // 410 Gone: the version is too old. The server closes the watch after it.
        expired ||= codeOf(object) === 410;
        return;
      }
      resourceVersion = versionOf(object) ?? resourceVersion;
      if (phase === "ADDED" || phase === "MODIFIED" || phase === "DELETED") {
        onEvent({ type: phase, object: Object.assign({ kind }, object) });
      }
    };
    const end = (error: unknown) => {
      if (expired || codeOf(error) === 410) {
        resolve({ kind: "expired" });
      } else if (error === null || error === undefined || isTimeout(error) || signal.aborted) {
        resolve({ kind: "closed", resourceVersion });
      } else {
        resolve({ kind: "failed", detail: error instanceof Error ? error.message : String(error) });
      }
    };
    begin(take, end).then((controller) => {
      const stop = () => controller.abort();
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) {
        stop();
      }
    }, end);
  });
}

function codeOf(value: unknown): number | undefined {
  const object = Object(value) as { code?: unknown; statusCode?: unknown };
  const code = object.statusCode ?? object.code;
  return typeof code === "number" ? code : undefined;
}

function versionOf(value: unknown): string | undefined {
  const { metadata } = Object(value) as { metadata?: { resourceVersion?: unknown } };
  return typeof metadata?.resourceVersion === "string" ? metadata.resourceVersion : undefined;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}
