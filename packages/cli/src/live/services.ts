import {
  ServiceStatusRequestSchema,
  type ServiceStatusResponse,
  ServiceStatusResponseSchema,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import type { Operator } from "./operator.ts";
import type { LiveTree } from "./tree.ts";

const ANSWER_WAIT_MS = 500;

/** Every instance of every service that answers, by service and instance. */
export async function listServices(
  operator: Operator,
  waitMs: number = ANSWER_WAIT_MS,
): Promise<ServiceStatusResponse[]> {
  const answers = await operator.callAll(
    "service.status",
    ServiceStatusRequestSchema,
    ServiceStatusResponseSchema,
    {},
    waitMs,
  );
  const key = (answer: ServiceStatusResponse) => `${answer.service} ${answer.instance}`;
  return answers.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The environment that a change is for: as asked, else the control plane's own. */
export async function environmentFor(
  operator: Operator,
  tree: LiveTree,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined) return asked;
  if (tree.environment !== "") return tree.environment;
  const services = await listServices(operator);
  const environment = services.find((service) => service.environment !== "")?.environment;
  if (environment === undefined) {
    throw new CliError("usage", "the control plane does not say which environment it serves", {
      hint: "add --env, for example --env prod",
    });
  }
  return environment;
}
