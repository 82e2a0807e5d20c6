import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Effect, type Message, type Moment, Outbox, Tasks } from "@ringwall/actor";
import { type Names, PARTITIONS, type ServiceReducer, Slots } from "@ringwall/bus";
import { ContentWantSchema, FullBatchWantSchema, type Inputs } from "@ringwall/wire";
import { type Context, DEFAULT_OPTIONS, type RendererOptions } from "./context.ts";
import { Life } from "./life.ts";

/** What a renderer is made from. */
export interface RendererEnv {
  readonly names: Names;
  readonly instance: string;
  /** Environment whose overlay is in force. */
  readonly environment: string;
  readonly options?: Partial<RendererOptions>;
}

const SLOT = /^renderer\.(\d+)$/;
const SLOT_NAMES = Array.from({ length: PARTITIONS }, (_, each) => `renderer.${each}`);

const CONTENT_WANT = "content.want";
const BATCH_WANT = "batch.want";
const NEXT_LIFE = "next-life";

/**
 * The renderer: turns the configuration and the registry into bodies and appends what changed to
 * RENDERED. Every instance indexes the whole estate and emits the partitions whose slots it owns; the
 * fence of each partition's subject makes that true.
 */
export class Renderer implements ServiceReducer {
  readonly #env: RendererEnv;
  readonly #options: RendererOptions;
  readonly #outbox = new Outbox();
  readonly #slots: Slots;
  #life: Life;
  #tasks: Tasks;
  #lives = 0;
  #moment: Moment = { wallMs: 0, monotonicMs: 0, random: () => 0 };
  #sharing = false;
  #stopped = false;
  #writes = 0;
  #writeLife = "";

  constructor(env: RendererEnv) {
    const { names, instance } = env;
    this.#env = env;
    this.#options = { ...DEFAULT_OPTIONS, ...env.options };
    this.#slots = new Slots({ names, instance, service: "renderer", slots: SLOT_NAMES });
    [this.#life, this.#tasks] = this.#newLife();
  }

  /** What `service.status` shows of it. */
  status(): { readonly slots: readonly string[]; readonly inputs?: Inputs } {
    const { inputs } = this.#life;
    const slots = [...this.#slots.owned].sort();
    return inputs === undefined ? { slots } : { slots, inputs };
  }

  step(message: Message, moment: Moment): readonly Effect[] {
    this.#moment = moment;
    if (!this.#stopped) {
      this.#share(message, moment);
      this.#take(message);
      this.#stopped = message.kind === "stop";
    }
    return this.#outbox.take();
  }

  /** Slots are shared from the moment on at which this instance could do the work. */
  #share(message: Message, moment: Moment): void {
    if (this.#sharing) {
      this.#outbox.pass(this.#slots.step(message, moment));
    } else if (this.#life.isCurrent) {
      this.#sharing = true;
      this.#outbox.pass(this.#slots.step({ kind: "start" }, moment));
    }
    const { gained, lost } = this.#slots.takeChanges();
    for (const slot of lost) {
      this.#life.close(partitionOfSlot(slot));
    }
    for (const slot of gained) {
      this.#life.open(partitionOfSlot(slot));
    }
  }

  #take(message: Message): void {
    if (this.#tasks.take(message)) {
      return;
    }
    switch (message.kind) {
      case "start":
        this.#start();
        break;
      case "record":
      case "caught-up":
        if (this.#life.reads(message.reader)) {
          this.#life.take(message);
        }
        break;
      case "reader-lost":
        if (this.#life.reads(message.reader)) {
          this.#begin(`${message.reader}: ${message.detail}`);
        }
        break;
      case "timer":
        if (message.id === NEXT_LIFE) {
          this.#life.start();
        }
        break;
      case "delivery":
        this.#delivery(message);
        break;
      case "stop":
        this.#life.end();
        break;
    }
  }

  #start(): void {
    const { names } = this.#env;
    // Begins the ids of this life's writes, so that a restarted instance is not taken for itself.
    this.#writeLife = Math.floor(this.#moment.random() * 2 ** 48).toString(36);
    const listen = (listener: string, subject: string): void =>
      this.#outbox.add({ kind: "listen", listener, subject });
    listen(CONTENT_WANT, names.internal("content", "want"));
    listen(BATCH_WANT, names.internal("batch", "want"));
    this.#life.start();
  }

  /** A stream is not what it was: everything is read anew, and judged anew. */
  #begin(why: string): void {
    this.#outbox.log("warn", `reading everything anew: ${why}`);
    this.#outbox.count("ringwall_render_lives_total");
    this.#life.end();
    [this.#life, this.#tasks] = this.#newLife();
    for (const slot of this.#slots.owned) {
      this.#life.open(partitionOfSlot(slot));
    }
    const reason = "a stream was lost; reading everything anew";
    this.#outbox.add({ kind: "ready", ready: false, reason });
    this.#outbox.add({ kind: "timer", id: NEXT_LIFE, delayMs: this.#options.retryMs });
  }

  #newLife(): [Life, Tasks] {
    this.#lives += 1;
    const name = `life${this.#lives}`;
    const tasks = new Tasks(this.#outbox, name);
    const { names, instance, environment } = this.#env;
    const context: Context = {
      names,
      instance,
      environment,
      options: this.#options,
      outbox: this.#outbox,
      tasks,
      moment: () => this.#moment,
      writeId: () => this.#writeId(),
    };
    return [new Life(context, name), tasks];
  }

  #delivery({ listener, payload, replyTo }: Extract<Message, { kind: "delivery" }>): void {
    if (listener === CONTENT_WANT) {
      this.#life.wantContent(this.#read(ContentWantSchema, payload)?.digests ?? []);
    } else if (listener === BATCH_WANT) {
      const want = this.#read(FullBatchWantSchema, payload);
      if (want !== undefined) {
        this.#life.wantFull(want.partition);
      }
    }
    if (replyTo !== undefined) {
      this.#outbox.add({ kind: "reply", to: replyTo, payload: new Uint8Array() });
    }
  }

  #read<Schema extends DescMessage>(
    schema: Schema,
    payload: Uint8Array,
  ): MessageShape<Schema> | undefined {
    try {
      return fromBinary(schema, payload);
    } catch {
      this.#outbox.count("ringwall_unreadable_requests_total", { type: schema.name });
      return undefined;
    }
  }

  #writeId(): string {
    this.#writes += 1;
    return `${this.#env.instance}-${this.#writeLife}:${this.#writes}`;
  }
}

/** Makes the reducer of a renderer. */
export function createRenderer(env: RendererEnv): Renderer {
  return new Renderer(env);
}

function partitionOfSlot(slot: string): number {
  return Number(SLOT.exec(slot)?.[1] ?? -1);
}
