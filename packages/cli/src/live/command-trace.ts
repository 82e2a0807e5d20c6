import { randomBytes } from "node:crypto";
import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { Telemetry } from "@ringwall/telemetry";
import type { WatchFrame } from "@ringwall/wire";
import type { Command } from "commander";
import { messageOf } from "../errors.ts";
import type { CallOptions, Operator } from "./operator.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One run of the command as a span, from which the control plane's spans descend. */
export interface CommandTrace {
  /** Goes with every call. */
  readonly traceparent: string;
  /** The run ends with this error. */
  failed(error: unknown): void;
  /** Exports the span. */
  end(): Promise<void>;
}

/**
 * Begins the trace of a run, below `TRACEPARENT` where that is set. Undefined unless the standard
 * OTEL_* variables name a place for spans and sample this run: only then is telemetry loaded.
 */
export async function startTrace(
  command: Command,
  environment: Environment,
): Promise<CommandTrace | undefined> {
  const endpoint =
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || environment.OTEL_SDK_DISABLED === "true") return undefined;
  const { startTelemetry } = await import("@ringwall/telemetry");
  const telemetry = await startTelemetry({
    service: "cli",
    instance: randomBytes(4).toString("hex"),
    environment: { ...environment, OTEL_METRICS_EXPORTER: "none" },
  });
  const parent = environment.TRACEPARENT || undefined;
  const trace = telemetry.begin(parent);
  if (trace === undefined) {
    await telemetry.shutdown();
    return undefined;
  }
  return new RunningTrace(telemetry, trace, parent, nameOf(command));
}

class RunningTrace implements CommandTrace {
  readonly traceparent: string;
  readonly #telemetry: Telemetry;
  readonly #parent: string | undefined;
  readonly #name: string;
  readonly #startUnixMs = Date.now();
  #failed: string | undefined;

  constructor(telemetry: Telemetry, trace: string, parent: string | undefined, name: string) {
    this.#telemetry = telemetry;
    this.traceparent = trace;
    this.#parent = parent;
    this.#name = name;
  }

  failed(error: unknown): void {
    this.#failed = messageOf(error);
  }

  async end(): Promise<void> {
    this.#telemetry.perform({
      kind: "span",
      name: this.#name,
      trace: this.traceparent,
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
      startUnixMs: this.#startUnixMs,
      endUnixMs: Date.now(),
      ...(this.#failed === undefined ? {} : { failed: this.#failed }),
    });
    await this.#telemetry.shutdown();
  }
}

/** `ringwall apply`, `ringwall get workloads`. */
function nameOf(command: Command): string {
  const names: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) {
    names.unshift(each.name());
  }
  return names.join(" ");
}

/** An operator whose calls carry a trace. */
export class TracedOperator implements Operator {
  readonly #inner: Operator;
  readonly #trace: string;

  constructor(inner: Operator, trace: string) {
    this.#inner = inner;
    this.#trace = trace;
  }

  call<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    body: MessageInitShape<Request>,
    options: CallOptions = {},
  ): Promise<MessageShape<Response>> {
    return this.#inner.call(verb, request, response, body, { trace: this.#trace, ...options });
  }

  callAll<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    body: MessageInitShape<Request>,
    waitMs: number,
  ): Promise<MessageShape<Response>[]> {
    return this.#inner.callAll(verb, request, response, body, waitMs);
  }

  follow<Request extends DescMessage>(
    verb: string,
    request: Request,
    body: (inbox: string) => MessageInitShape<Request>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchFrame, void, void> {
    return this.#inner.follow(verb, request, body, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]();
  }
}
