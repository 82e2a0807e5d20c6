import { connect, createServer, type Server, type Socket } from "node:net";

/** What becomes of a request to the control plane: it passes, waits for `release`, or never comes. */
export type Verdict = "pass" | "hold" | "drop";

const REQUEST = /(?:^|\r\n)H?PUB ([^ \r]+\.api\.[^ \r]+) /g;

/**
 * A stand-in for the NATS server that sees which operations a client asks for, and can hold or drop
 * them. `judge` is called with each operation's subject, in order.
 */
export class HeldProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #holding = false;
  #release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts one in front of the server at `port`. */
  static async start(port: number, judge: (subject: string) => Verdict): Promise<HeldProxy> {
    const server = createServer((client) => proxy.#serve(client, port, judge));
    const proxy = new HeldProxy(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** URL for the client. */
  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return `nats://127.0.0.1:${port}`;
  }

  /** True once a request waits. */
  get isHolding(): boolean {
    return this.#holding;
  }

  /** Lets what is held pass. */
  release(): void {
    this.#release();
  }

  #serve(client: Socket, port: number, judge: (subject: string) => Verdict): void {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    let sending = Promise.resolve();
    client.on("data", (chunk: Buffer) => {
      sending = sending.then(async () => {
        const verdicts = [...chunk.toString("latin1").matchAll(REQUEST)].map(([, subject = ""]) =>
          judge(subject),
        );
        if (verdicts.includes("drop")) return;
        if (verdicts.includes("hold")) {
          this.#holding = true;
          await this.#released;
        }
        upstream.write(chunk);
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
