import type { Compose } from "./compose.ts";

const ATTEMPT_MS = 1500;

/** Listens on ports inside a service's container until the container ends. */
export async function listenIn(
  compose: Compose,
  service: string,
  ports: readonly number[],
): Promise<void> {
  const script = `for (const port of ${JSON.stringify(ports)})
    require("node:net").createServer((socket) => socket.end()).listen(port);`;
  await compose.execDetached(service, ["node", "-e", script]);
}

/** What became of a connection: it opened, the peer's host refused it, or nothing came back. */
export type Attempt = "open" | "refused" | "silent";

/** Connects from a service's container to an address. */
export async function connectFrom(
  compose: Compose,
  service: string,
  host: string,
  port: number,
): Promise<Attempt> {
  const script = `const socket = require("node:net").connect(${port}, ${JSON.stringify(host)});
    const end = (word) => { console.log(word); process.exit(0); };
    socket.on("connect", () => end("open"));
    socket.on("error", () => end("refused"));
    setTimeout(() => end("silent"), ${ATTEMPT_MS});`;
  const { code, stdout, stderr } = await compose.exec(service, ["node", "-e", script]);
  const word = stdout.trim();
  if (code !== 0 || (word !== "open" && word !== "refused" && word !== "silent")) {
    throw new Error(`no connection could be tried from ${service}: ${stderr.trim() || word}`);
  }
  return word;
}
