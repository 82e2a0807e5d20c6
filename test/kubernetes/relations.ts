import { isRecord } from "./check-object.ts";
import { at, type Kustomization, type Manifest, records } from "./manifests.ts";

/** Secrets that the operator makes; README.md says how. */
const OPERATORS_SECRETS: ReadonlySet<string> = new Set(["ringwall-nats", "ringwall-nats-users"]);
const WORKLOADS: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "DaemonSet"]);

/** What the API's types do not say: names that refer to each other, and what production needs. */
export function checkRelations({ manifests, pinned }: Kustomization): string[] {
  const workloads = manifests.filter(({ kind }) => WORKLOADS.has(kind));
  return [
    ...selectors(manifests, workloads),
    ...workloads.flatMap((workload) => [
      ...ownLabels(workload),
      ...references(workload, manifests),
      ...containersOf(workload).flatMap((container) =>
        needs(container, pinned).map((problem) => `${workload.name}: ${problem}`),
      ),
    ]),
    ...budgets(manifests, workloads),
    ...roles(manifests),
  ];
}

function podLabels({ object }: Manifest): Readonly<Record<string, unknown>> {
  const labels = at(object, "spec", "template", "metadata", "labels");
  return isRecord(labels) ? labels : {};
}

function containersOf({ object }: Manifest): readonly Readonly<Record<string, unknown>>[] {
  return records(at(object, "spec", "template", "spec", "containers"));
}

function selects(selector: unknown, workload: Manifest): boolean {
  if (!isRecord(selector) || Object.keys(selector).length === 0) return false;
  const labels = podLabels(workload);
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function selectors(manifests: readonly Manifest[], workloads: readonly Manifest[]): string[] {
  return manifests
    .filter(({ kind }) => kind === "Service")
    .filter(
      ({ object }) => !workloads.some((each) => selects(at(object, "spec", "selector"), each)),
    )
    .map(({ name }) => `Service ${name} selects no pods`);
}

function ownLabels(workload: Manifest): string[] {
  return selects(at(workload.object, "spec", "selector", "matchLabels"), workload)
    ? []
    : [`${workload.kind} ${workload.name} does not select its own pods`];
}

function budgets(manifests: readonly Manifest[], workloads: readonly Manifest[]): string[] {
  const all = manifests.filter(({ kind }) => kind === "PodDisruptionBudget");
  return workloads
    .filter(({ kind }) => kind !== "DaemonSet")
    .filter(
      (workload) =>
        all.filter(({ object }) => selects(at(object, "spec", "selector", "matchLabels"), workload))
          .length !== 1,
    )
    .map(({ name }) => `${name} has not exactly one PodDisruptionBudget`);
}

function references(workload: Manifest, manifests: readonly Manifest[]): string[] {
  const has = (kind: string, name: unknown) =>
    manifests.some((each) => each.kind === kind && each.name === name);
  const pod = at(workload.object, "spec", "template", "spec");
  const problems: string[] = [];
  const account = at(pod, "serviceAccountName");
  if (account !== undefined && !has("ServiceAccount", account)) {
    problems.push(`${workload.name}: ServiceAccount ${String(account)} is not there`);
  }
  const volumes = new Map(records(at(pod, "volumes")).map((volume) => [volume.name, volume]));
  const claims = records(at(workload.object, "spec", "volumeClaimTemplates"));
  const secrets: unknown[] = [];
  for (const volume of volumes.values()) {
    const map = at(volume, "configMap", "name");
    if (map !== undefined && !has("ConfigMap", map)) {
      problems.push(`${workload.name}: ConfigMap ${String(map)} is not there`);
    }
    secrets.push(at(volume, "secret", "secretName"));
  }
  for (const container of containersOf(workload)) {
    for (const variable of records(container.env)) {
      secrets.push(at(variable, "valueFrom", "secretKeyRef", "name"));
    }
    for (const { name } of records(container.volumeMounts)) {
      const claimed = claims.some((claim) => at(claim, "metadata", "name") === name);
      if (!volumes.has(name) && !claimed) {
        problems.push(`${workload.name}: volume ${String(name)} is not there`);
      }
    }
  }
  for (const secret of secrets) {
    if (secret !== undefined && !OPERATORS_SECRETS.has(String(secret))) {
      problems.push(`${workload.name}: nobody makes Secret ${String(secret)}`);
    }
  }
  return problems;
}

function needs(
  container: Readonly<Record<string, unknown>>,
  pinned: ReadonlySet<string>,
): string[] {
  const problems: string[] = [];
  const demand = (holds: boolean, what: string) => {
    if (!holds) problems.push(what);
  };
  demand(pinned.has(String(container.image)), `image ${String(container.image)} has no tag`);
  demand(container.readinessProbe !== undefined, "no readinessProbe");
  demand(container.startupProbe !== undefined, "no startupProbe");
  demand(at(container, "resources", "requests", "cpu") !== undefined, "no cpu request");
  demand(at(container, "resources", "requests", "memory") !== undefined, "no memory request");
  demand(at(container, "resources", "limits", "memory") !== undefined, "no memory limit");
  const security = container.securityContext;
  demand(at(security, "allowPrivilegeEscalation") === false, "may escalate privileges");
  demand(at(security, "readOnlyRootFilesystem") === true, "may write its root file system");
  const drop = at(security, "capabilities", "drop");
  demand(Array.isArray(drop) && drop.includes("ALL"), "keeps capabilities");
  const ports = new Set(records(container.ports).map(({ name }) => name));
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
    const port = at(container[probe], "httpGet", "port");
    demand(typeof port !== "string" || ports.has(port), `${probe} asks port ${String(port)}`);
  }
  return problems;
}

function roles(manifests: readonly Manifest[]): string[] {
  return manifests
    .filter(({ kind }) => kind === "ClusterRoleBinding")
    .flatMap(({ name, object }) => {
      const role = at(object, "roleRef", "name");
      const problems = manifests.some((each) => each.kind === "ClusterRole" && each.name === role)
        ? []
        : [`${name}: ClusterRole ${String(role)} is not there`];
      for (const subject of records(object.subjects)) {
        const known = manifests.some(
          (each) => each.kind === "ServiceAccount" && each.name === subject.name,
        );
        if (!known) problems.push(`${name}: ServiceAccount ${String(subject.name)} is not there`);
      }
      return problems;
    });
}
