import { fieldsOf } from "./api-types.ts";

/** Types of the objects that Ringwall's manifests have, by apiVersion and kind. */
const KINDS: Readonly<Record<string, string>> = {
  "v1 Namespace": "V1Namespace",
  "v1 Service": "V1Service",
  "v1 ServiceAccount": "V1ServiceAccount",
  "v1 ConfigMap": "V1ConfigMap",
  "apps/v1 StatefulSet": "V1StatefulSet",
  "apps/v1 Deployment": "V1Deployment",
  "apps/v1 DaemonSet": "V1DaemonSet",
  "policy/v1 PodDisruptionBudget": "V1PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1 ClusterRole": "V1ClusterRole",
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": "V1ClusterRoleBinding",
};

/** Every way in which an object does not fit its type: unknown, missing and mistyped fields. */
export function checkObject(object: unknown): string[] {
  if (!isRecord(object)) return ["is no object"];
  const kind = `${String(object.apiVersion)} ${String(object.kind)}`;
  const type = KINDS[kind];
  return type === undefined ? [`${kind} is not known here`] : checkValue(object, type, "");
}

/** An object whose fields may be read by name. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkValue(value: unknown, type: string, path: string): string[] {
  const [, element] = /^Array<(.+)>$/.exec(type) ?? [];
  if (element !== undefined) {
    return Array.isArray(value)
      ? value.flatMap((each, index) => checkValue(each, element, `${path}[${index}]`))
      : [`${path} is no list`];
  }
  const [, mapped] = /^\{\s*\[key: string\]: (.+?);?\s*\}$/.exec(type) ?? [];
  if (mapped !== undefined) {
    return isRecord(value)
      ? Object.entries(value).flatMap(([key, each]) => checkValue(each, mapped, `${path}.${key}`))
      : [`${path} is no map`];
  }
  switch (type) {
    case "string":
    case "number":
    case "boolean":
      return typeof value === type ? [] : [`${path} is ${JSON.stringify(value)}, not a ${type}`];
    case "IntOrString":
      return typeof value === "number" || typeof value === "string"
        ? []
        : [`${path} is neither number nor text`];
    case "any":
    case "Date":
    case "V1MicroTime":
      return [];
    default:
      return checkFields(value, type, path);
  }
}

function checkFields(value: unknown, type: string, path: string): string[] {
  const fields = fieldsOf(type);
  if (fields === undefined) return [`${path} has a type that the client does not declare: ${type}`];
  if (!isRecord(value)) return [`${path} is no ${type}`];
  const problems: string[] = [];
  for (const [name, each] of Object.entries(value)) {
    const field = fields.get(name);
    if (field === undefined) problems.push(`${path}.${name} is no field of ${type}`);
    else problems.push(...checkValue(each, field.type, `${path}.${name}`));
  }
  for (const [name, { required }] of fields) {
    if (required && value[name] === undefined) problems.push(`${path}.${name} is missing`);
  }
  return problems;
}
