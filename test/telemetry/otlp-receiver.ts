import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { type ReceivedSpan, readSpans } from "./otlp-spans.ts";

/** An OTLP/HTTP receiver of this process. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  /** Every span that came, in the order in which it came. */
  readonly spans: readonly ReceivedSpan[];
  /** Metric exports that came. */
  readonly metricExports: number;
}

/** Listens on 127.0.0.1 for OTLP over HTTP with protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  let metricExports = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      if (request.url === "/v1/traces") spans.push(...readSpans(body));
      if (request.url === "/v1/metrics") metricExports += 1;
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    get metricExports() {
      return metricExports;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
