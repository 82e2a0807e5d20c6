import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  api,
  BusError,
  partitionOf,
  type RunningService,
  serviceOptions,
  startService,
} from "@ringwall/bus";
import { eventually, type NatsServer } from "@ringwall/testkit";
import {
  AdmitWorkloadRequestSchema,
  AdmitWorkloadResponseSchema,
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
} from "@ringwall/wire";
import { createRegistrar, type RegistrarOptions } from "../index.ts";

let prefixes = 0;

const REPEATED: ReadonlySet<string> = new Set(["no-responders", "timeout"]);

/** A prefix that no other test of this process uses. */
export function freshPrefix(): string {
  prefixes += 1;
  return `t${prefixes}`;
}

/** Runs a registrar in this process until it is ready. */
export async function startRegistrar(
  nats: NatsServer,
  prefix: string,
  options: RegistrarOptions = {},
): Promise<RunningService> {
  const service = await startService({
    service: "registrar",
    description: "Knows workloads and their endpoints",
    options: serviceOptions(["--nats-url", nats.url, "--prefix", prefix], {}),
    create: ({ names, instance, environment }) =>
      createRegistrar({ names, instance, environment, options }),
    logDestination: { write: () => undefined },
  });
  await eventually("ready", () => service.problems().length === 0);
  return service;
}

/**
 * Calls a registrar as the product's clients do: a partition without an owner, or with one that left
 * before it answered, is asked again. Every operation here may be repeated.
 */
export function registrarClient(service: RunningService) {
  const bus = api(service.bus);
  async function call<Request extends DescMessage, Response extends DescMessage>(
    [noun, verb]: readonly [string, string],
    requestSchema: Request,
    responseSchema: Response,
    request: MessageInitShape<Request>,
    id?: string,
  ): Promise<MessageShape<Response>> {
    const partition = id === undefined ? {} : { partition: partitionOf(id) };
    const answer = await eventually(`an answer of ${noun}.${verb}`, async () => {
      try {
        return await bus.call(noun, verb, requestSchema, responseSchema, request, partition);
      } catch (error) {
        if (error instanceof BusError && REPEATED.has(error.code)) {
          return undefined;
        }
        throw error;
      }
    });
    if (answer === undefined) {
      throw new Error("unreachable: eventually throws first");
    }
    return answer;
  }
  return {
    call,
    report: (request: MessageInitShape<typeof ReportWorkloadRequestSchema> & { id: string }) =>
      call(
        ["workload", "report"],
        ReportWorkloadRequestSchema,
        ReportWorkloadResponseSchema,
        request,
        request.id,
      ),
    admit: (request: MessageInitShape<typeof AdmitWorkloadRequestSchema> & { id: string }) =>
      call(
        ["workload", "admit"],
        AdmitWorkloadRequestSchema,
        AdmitWorkloadResponseSchema,
        request,
        request.id,
      ),
    deregister: (id: string) =>
      call(
        ["workload", "deregister"],
        DeregisterWorkloadRequestSchema,
        DeregisterWorkloadResponseSchema,
        { id },
        id,
      ),
    list: (request: MessageInitShape<typeof ListWorkloadsRequestSchema> = {}) =>
      call(["workload", "list"], ListWorkloadsRequestSchema, ListWorkloadsResponseSchema, request),
  };
}
