import { equals } from "@bufbuild/protobuf";
import { type ReportWorkloadRequest, ReportWorkloadRequestSchema } from "@ringwall/wire";
import { asArray, asText, isObject, type Json } from "./json.ts";
import { isOlder } from "./meta.ts";
import { type Pod, readPod } from "./pod.ts";
import { podLabels } from "./pod-labels.ts";
import { podReport } from "./pod-report.ts";
import { readService, type Service, selects } from "./service.ts";
import { podWorkloadId } from "./workload-id.ts";

/** Deleted objects that are remembered, so that a late event does not bring one back. */
const DELETED_KEPT = 100_000;

/** What can't be taken from the cluster. */
export interface KubernetesProblem {
  /** `<namespace>/<name>` of the object, or its place in a document. */
  readonly object: string;
  readonly code: "not-an-object" | "no-name" | "labels-dropped";
  readonly message: string;
}

/** What is to be written since the last call. */
export interface KubernetesChanges {
  readonly reports: readonly ReportWorkloadRequest[];
  /** Ids of workloads that are gone. */
  readonly removes: readonly string[];
}

/**
 * Pods and services of a cluster, and the workloads that they make. Events may come late, twice or
 * in any order: of each object the newest version counts, and what was deleted stays so.
 */
export class KubernetesModel {
  readonly #strict: boolean;
  readonly #pods = new Map<string, Pod>();
  readonly #services = new Map<string, Service>();
  readonly #podsByWorkload = new Map<string, Set<string>>();
  readonly #podsByNamespace = new Map<string, Set<string>>();
  readonly #servicesByNamespace = new Map<string, Set<string>>();
  readonly #deleted = new Set<string>();
  readonly #reports = new Map<string, ReportWorkloadRequest>();
  readonly #dirty = new Set<string>();
  readonly #problems = new Map<string, KubernetesProblem>();

  constructor(options: { readonly strict?: boolean } = {}) {
    this.#strict = options.strict ?? false;
  }

  /** What could not be taken, by object. */
  get problems(): readonly KubernetesProblem[] {
    return [...this.#problems.values()];
  }

  /** Takes the present version of an object, or a list of objects; other kinds are passed over. */
  put(value: unknown, place = "document"): void {
    if (!isObject(value)) {
      this.#problem(place, "not-an-object", "expected a Kubernetes object");
      return;
    }
    const kind = asText(value.kind);
    if (kind.endsWith("List") || Array.isArray(value.items)) {
      const itemKind = kind === "List" ? "" : kind.slice(0, -"List".length);
      for (const [index, item] of asArray(value.items).entries()) {
        // Items of a typed list do not repeat their kind.
        const typed = isObject(item) && itemKind !== "" ? { kind: itemKind, ...item } : item;
        this.put(typed, `${place}.items[${index}]`);
      }
    } else if (kind === "Pod") {
      this.#putPod(value, place);
    } else if (kind === "Service") {
      this.#putService(value, place);
    }
  }

  /** Takes the deletion of an object. */
  delete(value: unknown): void {
    if (!isObject(value) || (value.kind !== "Pod" && value.kind !== "Service")) {
      return;
    }
    const gone = value.kind === "Pod" ? readPod(value) : readService(value);
    if (gone === undefined) {
      return;
    }
    this.#deleted.add(gone.uid);
    if (this.#deleted.size > DELETED_KEPT) {
      const [oldest] = this.#deleted;
      this.#deleted.delete(oldest ?? "");
    }
    if (gone.kind === "pod") {
      this.#dropPod(gone.uid);
    } else {
      this.#dropService(gone.uid);
    }
  }

  /** Says that only objects with these uids exist: what a list does not name is gone. */
  retain(kind: "pod" | "service", uids: ReadonlySet<string>): void {
    const held = kind === "pod" ? this.#pods : this.#services;
    for (const uid of [...held.keys()].filter((each) => !uids.has(each))) {
      if (kind === "pod") {
        this.#dropPod(uid);
      } else {
        this.#dropService(uid);
      }
    }
  }

  /** What changed since the last call, in byte order of the ids. */
  takeChanges(): KubernetesChanges {
    const reports: ReportWorkloadRequest[] = [];
    const removes: string[] = [];
    for (const id of [...this.#dirty].sort()) {
      const before = this.#reports.get(id);
      const after = this.#reportOf(id);
      if (after === undefined) {
        this.#reports.delete(id);
        if (before !== undefined) {
          removes.push(id);
        }
      } else if (before === undefined || !equals(ReportWorkloadRequestSchema, before, after)) {
        this.#reports.set(id, after);
        reports.push(after);
      }
    }
    this.#dirty.clear();
    return { reports, removes };
  }

  /** Every workload of the cluster, in byte order of the ids. */
  reports(): ReportWorkloadRequest[] {
    return [...this.#podsByWorkload.keys()].sort().flatMap((id) => this.#reportOf(id) ?? []);
  }

  #putPod(value: Json, place: string): void {
    const pod = readPod(value);
    if (pod === undefined) {
      this.#problem(place, "no-name", "a pod without metadata.name");
      return;
    }
    const before = this.#pods.get(pod.uid);
    const outdated = before !== undefined && isOlder(pod.resourceVersion, before.resourceVersion);
    if (outdated || this.#deleted.has(pod.uid)) {
      return;
    }
    const id = podWorkloadId(pod.namespace, pod.name);
    this.#pods.set(pod.uid, pod);
    link(this.#podsByWorkload, id, pod.uid);
    link(this.#podsByNamespace, pod.namespace, pod.uid);
    this.#dirty.add(id);
    const { dropped } = podLabels(pod);
    if (dropped.length > 0) {
      const message = `labels out of grammar or above the limit are left out: ${dropped.join(", ")}`;
      this.#problem(`${pod.namespace}/${pod.name}`, "labels-dropped", message);
    } else {
      this.#problems.delete(`${pod.namespace}/${pod.name}`);
    }
  }

  #putService(value: Json, place: string): void {
    const service = readService(value);
    if (service === undefined) {
      this.#problem(place, "no-name", "a service without metadata.name");
      return;
    }
    const before = this.#services.get(service.uid);
    const outdated =
      before !== undefined && isOlder(service.resourceVersion, before.resourceVersion);
    if (outdated || this.#deleted.has(service.uid)) {
      return;
    }
    this.#services.set(service.uid, service);
    link(this.#servicesByNamespace, service.namespace, service.uid);
    this.#touchSelected(service, before);
  }

  #dropPod(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) {
      return;
    }
    const id = podWorkloadId(pod.namespace, pod.name);
    this.#pods.delete(uid);
    unlink(this.#podsByWorkload, id, uid);
    unlink(this.#podsByNamespace, pod.namespace, uid);
    this.#problems.delete(`${pod.namespace}/${pod.name}`);
    this.#dirty.add(id);
  }

  #dropService(uid: string): void {
    const service = this.#services.get(uid);
    if (service !== undefined) {
      this.#services.delete(uid);
      unlink(this.#servicesByNamespace, service.namespace, uid);
      this.#touchSelected(service, undefined);
    }
  }

  #touchSelected(service: Service, before: Service | undefined): void {
    for (const uid of this.#podsByNamespace.get(service.namespace) ?? []) {
      const pod = this.#pods.get(uid);
      const selected = (each: Service | undefined) =>
        each !== undefined && pod !== undefined && selects(each, pod.labels);
      if (pod !== undefined && (selected(service) || selected(before))) {
        this.#dirty.add(podWorkloadId(pod.namespace, pod.name));
      }
    }
  }

  #reportOf(id: string): ReportWorkloadRequest | undefined {
    const pod = this.#newest(id);
    if (pod === undefined) {
      return undefined;
    }
    const services = [...(this.#servicesByNamespace.get(pod.namespace) ?? [])]
      .flatMap((uid) => this.#services.get(uid) ?? [])
      .filter((service) => selects(service, pod.labels))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return podReport(pod, services, { strict: this.#strict });
  }

  /** The newest pod of a name that has not finished: one that is replaced may linger for a while. */
  #newest(id: string): Pod | undefined {
    const pods = [...(this.#podsByWorkload.get(id) ?? [])]
      .flatMap((uid) => this.#pods.get(uid) ?? [])
      .filter((pod) => !pod.finished);
    return pods.sort((a, b) => b.createdUnixMs - a.createdUnixMs || (a.uid < b.uid ? 1 : -1))[0];
  }

  #problem(object: string, code: KubernetesProblem["code"], message: string): void {
    this.#problems.set(object, { object, code, message });
  }
}

function link(index: Map<string, Set<string>>, key: string, uid: string): void {
  const uids = index.get(key);
  if (uids === undefined) {
    index.set(key, new Set([uid]));
  } else {
    uids.add(uid);
  }
}

function unlink(index: Map<string, Set<string>>, key: string, uid: string): void {
  const uids = index.get(key);
  uids?.delete(uid);
  if (uids?.size === 0) {
    index.delete(key);
  }
}
