import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { type Api, api, type Bus, BusError, connectBus, watch } from "@ringwall/bus/client";
import type { WatchFrame } from "@ringwall/wire";
import { CliError, messageOf } from "../errors.ts";
import type { Globals } from "../globals.ts";
import type { Out } from "../output/out.ts";
import type { CallOptions, Operator } from "./operator.ts";

/** Connects as the options say: one line while NATS is away, or code 4 at once with `--no-retry`. */
export async function connectOperator(
  globals: Globals,
  out: Pick<Out, "note">,
  signal: AbortSignal,
): Promise<BusOperator> {
  try {
    const bus = await connectBus({
      url: globals.natsUrl,
      name: "ringwall-command",
      prefix: globals.prefix,
      failFast: !globals.retry,
      signal,
      log: {
        info: (_fields, message) => out.note(message),
        warn: (_fields, message) => out.note(message),
      },
    });
    return new BusOperator(bus);
  } catch (error) {
    throw connectFailure(error);
  }
}

function connectFailure(error: unknown): Error {
  if (error instanceof RangeError) return new CliError("usage", error.message);
  if (!(error instanceof BusError))
    return error instanceof Error ? error : new Error(String(error));
  switch (error.code) {
    case "denied":
      return new CliError("denied", error.message, {
        hint: "put user and password into --nats-url, or ask for access",
      });
    case "invalid-option":
      return new CliError("usage", error.message);
    default:
      return new CliError("transport", error.message, {
        hint: "start NATS, or name it with --nats-url or RINGWALL_NATS_URL",
      });
  }
}

/** The operators' side of the bus over one NATS connection. */
export class BusOperator implements Operator {
  readonly bus: Bus;
  readonly #api: Api;

  constructor(bus: Bus) {
    this.bus = bus;
    this.#api = api(bus);
  }

  async call<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    body: MessageInitShape<Request>,
    options: CallOptions = {},
  ): Promise<MessageShape<Response>> {
    const [noun, action] = splitVerb(verb);
    try {
      return await this.#api.call(noun, action, request, response, body, options);
    } catch (error) {
      throw callFailure(verb, error);
    }
  }

  async callAll<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    body: MessageInitShape<Request>,
    waitMs: number,
  ): Promise<MessageShape<Response>[]> {
    const [noun, action] = splitVerb(verb);
    const options = { timeoutMs: waitMs };
    try {
      return await this.#api.callAll(noun, action, request, response, body, options);
    } catch (error) {
      if (error instanceof BusError && error.code === "no-responders") return [];
      throw callFailure(verb, error);
    }
  }

  async *follow<Request extends DescMessage>(
    verb: string,
    request: Request,
    body: (inbox: string) => MessageInitShape<Request>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchFrame, void, void> {
    const [noun, action] = splitVerb(verb);
    try {
      yield* watch(this.bus, { noun, verb: action, requestSchema: request, request: body, signal });
    } catch (error) {
      throw callFailure(verb, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bus.close();
  }
}

function splitVerb(verb: string): [string, string] {
  const [noun = "", action = ""] = verb.split(".");
  return [noun, action];
}

function callFailure(verb: string, error: unknown): Error {
  if (!(error instanceof BusError)) {
    return new CliError("transport", `${verb}: ${messageOf(error)}`, {
      hint: "command and control plane may be of different versions: update the older one",
    });
  }
  switch (error.code) {
    case "denied":
      return new CliError("denied", error.message);
    case "no-responders":
      return new CliError("transport", error.message, {
        hint: "start the control plane (`ringwall dev` runs one), or check --nats-url and --prefix",
      });
    case "timeout":
      return new CliError("transport", error.message, {
        hint: "`ringwall status` shows the services; look at what was done before you repeat a change",
      });
    default:
      return new CliError("transport", error.message);
  }
}
