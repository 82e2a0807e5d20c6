import { connect, createServer, type Server, type Socket } from "node:net";
import { Frames } from "./frames.ts";

/** A pair of sockets: a client's and the one to the server on its behalf. */
interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
}

/**
 * Stands between clients and a NATS server on 127.0.0.1, and can lose single replies of the server,
 * stop to carry anything, or cut every connection and refuse new ones.
 */
export class FaultyProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #links = new Set<Link>();
  readonly #drops = new Map<string, number>();
  #refusing = false;
  #paused = false;
  #dropped = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#take(client));
  }

  /** Starts one in front of the server at a port. */
  static async start(target: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is closed");
    return `nats://127.0.0.1:${address.port}`;
  }

  /** Replies that were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Loses the next so many acknowledgements of a stream: what they answer was stored. */
  loseAcks(stream: string, count: number): void {
    this.#drops.set(stream, count);
  }

  /** Carries nothing, in neither direction; connections stay. */
  pause(): void {
    this.#paused = true;
    for (const { client, upstream } of this.#links) {
      client.pause();
      upstream.pause();
    }
  }

  /** Carries again. */
  resume(): void {
    this.#paused = false;
    for (const { client, upstream } of this.#links) {
      client.resume();
      upstream.resume();
    }
  }

  /** Cuts every connection and refuses new ones. */
  cut(): void {
    this.#refusing = true;
    for (const { client } of this.#links) client.destroy();
  }

  /** Takes connections again. */
  mend(): void {
    this.#refusing = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(client: Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    const upstream = connect(this.#target, "127.0.0.1");
    const link = { client, upstream };
    this.#links.add(link);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#links.delete(link);
        client.destroy();
        upstream.destroy();
      });
    }
    const frames = new Frames((frame) => !this.#loses(frame));
    carry(client, upstream, (bytes) => bytes);
    carry(upstream, client, (bytes) => frames.pass(bytes));
    if (this.#paused) {
      client.pause();
      upstream.pause();
    }
  }

  #loses(frame: Buffer): boolean {
    if (this.#drops.size === 0 || !/^H?MSG /.test(frame.toString("latin1", 0, 5))) return false;
    const text = frame.toString("latin1", 0, Math.min(frame.length, 512));
    const stream = /\{"stream":"([^"]+)",(?:\s*"domain":"[^"]*",)?\s*"seq":/.exec(text)?.[1] ?? "";
    const left = this.#drops.get(stream) ?? 0;
    if (left === 0) return false;
    this.#drops.set(stream, left - 1);
    this.#dropped += 1;
    return true;
  }
}

/** Carries bytes one way and reads no faster than they are taken. */
function carry(from: Socket, to: Socket, change: (bytes: Buffer) => Buffer): void {
  from.on("data", (bytes: Buffer) => {
    const passed = change(bytes);
    if (passed.length > 0 && !to.write(passed)) {
      from.pause();
      to.once("drain", () => from.resume());
    }
  });
}
