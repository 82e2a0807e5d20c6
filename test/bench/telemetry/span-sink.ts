import { createServer } from "node:http";

/** Takes OTLP exports, counts their bytes and keeps nothing. */
export interface SpanSink extends AsyncDisposable {
  readonly url: string;
  readonly bytes: number;
}

/** Listens on 127.0.0.1. */
export async function startSpanSink(): Promise<SpanSink> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the sink has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    get bytes() {
      return bytes;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
