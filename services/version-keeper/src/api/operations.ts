import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { EffectFailed, type Message, pause, streamState, type Task } from "@ringwall/actor";
import { count, type KeeperContext, log } from "../context.ts";
import { ApiFailure } from "./api-failure.ts";

/** Most requests that this instance works on at the same time; more are refused. */
const MOST_REQUESTS = 256;

/** Most bytes of an answer, below the server's usual limit of 1 MiB. */
const ANSWER_BYTES = 1_000_000;

/** Wait before the server is asked again whether it has the listeners. */
const CONFIRM_AGAIN_MS = 200;

type Delivery = Extract<Message, { readonly kind: "delivery" }>;

/** One operation of the API. */
export interface Operation<Request extends DescMessage, Response extends DescMessage> {
  readonly noun: string;
  readonly verb: string;
  readonly request: Request;
  readonly response: Response;
  /** Answers; throws ApiFailure and EffectFailed. */
  readonly answer: (
    request: MessageShape<Request>,
    trace: string | undefined,
  ) => Task<MessageShape<Response>>;
  /** The answer that carries an error. */
  readonly fail: (code: string, message: string) => MessageShape<Response>;
}

interface Served {
  readonly subject: string;
  readonly take: (delivery: Delivery) => void;
}

/** Serves operations to a queue group: any instance answers. */
export class Operations {
  readonly #context: KeeperContext;
  readonly #served = new Map<string, Served>();
  #open = 0;
  #state: "closed" | "opening" | "listening" = "closed";

  constructor(context: KeeperContext) {
    this.#context = context;
  }

  /** Adds an operation, before `listen`. */
  add<Request extends DescMessage, Response extends DescMessage>(
    operation: Operation<Request, Response>,
  ): void {
    const { noun, verb } = operation;
    this.#served.set(`api.${noun}.${verb}`, {
      subject: this.#context.names.api(noun, verb),
      take: (delivery) => this.#take(operation, delivery),
    });
  }

  /** True once the server has the listeners. */
  get isListening(): boolean {
    return this.#state === "listening";
  }

  /** Starts to listen, once. */
  listen(): void {
    if (this.#state !== "closed") {
      return;
    }
    this.#state = "opening";
    for (const [listener, { subject }] of this.#served) {
      this.#context.outbox.add({ kind: "listen", listener, subject, queue: "keeper" });
    }
    this.#context.tasks.start(this.#confirm(), () => {
      this.#state = "listening";
    });
  }

  /** The server takes messages of one connection in order: its answer follows the listeners. */
  *#confirm(): Task<void> {
    for (;;) {
      try {
        yield* streamState("CONFIG");
        return;
      } catch {
        yield* pause(CONFIRM_AGAIN_MS);
      }
    }
  }

  /** Takes a delivery if it is an operation's. */
  take(delivery: Delivery): boolean {
    const served = this.#served.get(delivery.listener);
    served?.take(delivery);
    return served !== undefined;
  }

  #take<Request extends DescMessage, Response extends DescMessage>(
    operation: Operation<Request, Response>,
    delivery: Delivery,
  ): void {
    const { replyTo } = delivery;
    if (replyTo === undefined) {
      return;
    }
    const reply = (response: MessageShape<Response>) => {
      const payload = toBinary(operation.response, response);
      const fits = payload.length <= ANSWER_BYTES;
      const text = `the answer has ${payload.length} bytes, allowed are ${ANSWER_BYTES}; ask for less`;
      const sent = fits ? payload : toBinary(operation.response, operation.fail("too_large", text));
      this.#context.outbox.add({ kind: "reply", to: replyTo, payload: sent });
    };
    if (this.#open >= MOST_REQUESTS) {
      reply(operation.fail("unavailable", `${MOST_REQUESTS} requests are being answered already`));
      return;
    }
    const request = readRequest(operation.request, delivery.payload);
    if (request === undefined) {
      reply(operation.fail("invalid", `the payload is no ${operation.request.typeName}`));
      return;
    }
    this.#open += 1;
    this.#context.tasks.start(operation.answer(request, delivery.trace), (outcome) => {
      this.#open -= 1;
      reply(outcome.ok ? outcome.value : this.#failure(operation, outcome.error));
    });
  }

  #failure<Request extends DescMessage, Response extends DescMessage>(
    operation: Operation<Request, Response>,
    error: unknown,
  ): MessageShape<Response> {
    const name = `${operation.noun}.${operation.verb}`;
    if (error instanceof ApiFailure) {
      count(this.#context, "ringwall_api_failures_total", { operation: name, code: error.code });
      return operation.fail(error.code, error.message);
    }
    count(this.#context, "ringwall_api_failures_total", { operation: name, code: "unavailable" });
    const message = error instanceof Error ? error.message : String(error);
    const level = error instanceof EffectFailed ? "warn" : "error";
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const fields = { operation: name, ...(level === "error" ? { stack } : {}) };
    log(this.#context, level, `an operation failed: ${message}`, fields);
    return operation.fail("unavailable", message);
  }
}

function readRequest<Request extends DescMessage>(
  schema: Request,
  payload: Uint8Array,
): MessageShape<Request> | undefined {
  try {
    return fromBinary(schema, payload);
  } catch {
    return undefined;
  }
}
