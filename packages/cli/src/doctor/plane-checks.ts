import type { ServiceStatusResponse } from "@ringwall/wire";
import { messageOf } from "../errors.ts";
import type { BusOperator } from "../live/bus-operator.ts";
import { convergenceOf } from "../live/convergence.ts";
import { listServices } from "../live/services.ts";
import { listStatus, stateName } from "../live/status.ts";
import { readLiveTree } from "../live/tree.ts";
import { type Check, fail, ok, warn } from "./check.ts";

const SERVICES = ["registrar", "renderer", "version-keeper", "agent-gateway"] as const;
const DISCOVERY_MS = 700;

/** How the control plane does: services, versions, configuration, agents. */
export async function planeChecks(
  operator: BusOperator,
  version: string,
): Promise<readonly Check[]> {
  let services: readonly ServiceStatusResponse[];
  try {
    services = await listServices(operator);
  } catch (error) {
    return [fail("services", messageOf(error), "give this user the rights of an operator")];
  }
  const missing = SERVICES.filter((name) => services.every(({ service }) => service !== name));
  const checks = [...SERVICES.map((name) => service(name, services)), environments(services)];
  checks.push(await versions(operator, version));
  if (missing.length > 0) return checks;
  try {
    checks.push(...(await configuration(operator)), ...(await agents(operator)));
  } catch (error) {
    checks.push(fail("operations", messageOf(error), "`ringwall status` shows which part fails"));
  }
  return checks;
}

function service(name: string, services: readonly ServiceStatusResponse[]): Check {
  const instances = services.filter((each) => each.service === name);
  const unready = instances.filter(({ ready }) => !ready);
  const [first] = unready;
  if (instances.length === 0) return fail(name, "no instance answers", `start the ${name}`);
  if (first !== undefined && unready.length === instances.length) {
    return fail(name, first.reason, "its /readyz and its log say more");
  }
  if (first !== undefined) {
    return warn(name, `${first.instance}: ${first.reason}`, "the other instances serve meanwhile");
  }
  return instances.length === 1
    ? warn(name, "1 instance", "run two: a host that dies takes it away for its restart")
    : ok(name, `${instances.length} instances`);
}

function environments(services: readonly ServiceStatusResponse[]): Check {
  const names = [...new Set(services.map(({ environment }) => environment))].sort();
  return names.length <= 1
    ? ok("environment", names[0] ?? "none")
    : fail("environment", names.join(", "), "start every service with the same --env");
}

/** Versions as NATS service discovery tells them. */
async function versions({ bus }: BusOperator, own: string): Promise<Check> {
  const subject = "versions";
  const found = new Set<string>();
  try {
    const answers = await bus.nc.requestMany("$SRV.PING", undefined, {
      strategy: "stall",
      stall: 300,
      maxWait: DISCOVERY_MS,
    });
    for await (const answer of answers) {
      const said: unknown = answer.json();
      const known =
        typeof said === "object" && said !== null && "name" in said && "version" in said;
      const names: readonly string[] = SERVICES.map((name) => `${bus.names.prefix}-${name}`);
      if (known && names.includes(String(said.name))) found.add(String(said.version));
    }
  } catch (error) {
    return warn(subject, messageOf(error), "allow this user to ask $SRV.PING");
  }
  const others = [...found].filter((version) => version !== own).sort();
  return others.length === 0
    ? ok(subject, own)
    : warn(subject, `this command ${own}, services ${others.join(", ")}`, "update the older one");
}

async function configuration(operator: BusOperator): Promise<readonly Check[]> {
  const { head } = await readLiveTree(operator);
  if (head?.inputs === undefined) {
    return [warn("configuration", "no commit yet", "`ringwall apply` makes the first")];
  }
  const { configSequence } = head.inputs;
  const {
    heldReason,
    converged,
    acked,
    agents: wanted,
  } = await convergenceOf(operator, configSequence);
  const subject = `commit ${configSequence}`;
  if (heldReason !== "") {
    const todo = "restore the stream that is missing, or ringwall accept-state --expect N";
    return [fail(subject, `held: ${heldReason}`, todo)];
  }
  return [
    converged
      ? ok(subject, `converged on ${acked} agents`)
      : warn(
          subject,
          `${acked} of ${wanted} agents have it`,
          "ringwall trace shows who is missing",
        ),
  ];
}

async function agents(operator: BusOperator): Promise<readonly Check[]> {
  const statuses = await listStatus(operator);
  const counts = new Map<string, number>();
  for (const { state } of statuses) {
    counts.set(stateName(state), (counts.get(stateName(state)) ?? 0) + 1);
  }
  const found = [...counts].map(([state, count]) => `${count} ${state}`).join(", ") || "none";
  const bad = ["DEGRADED", "HELD", "UNKNOWN"].some((state) => counts.has(state));
  return [bad ? warn("agents", found, "ringwall get workloads says why") : ok("agents", found)];
}
