// Runs in a host's namespace: serves and tries connections as it is told on stdin, one JSON per line.
import { createSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, openTcp } from "./peer-attempts.ts";
import type { Attempt, AttemptResult, PeerAnswer, PeerPort, PeerRequest } from "./peer-messages.ts";

const PINGS_AT_ONCE = 16;
/** Beginning a process stops this one, which answers nobody meanwhile: the next one waits. */
const BETWEEN_PINGS_MS = 25;

const name = process.argv[2] ?? "peer";
const held = new Map<string, Socket>();

createInterface({ input: process.stdin }).on("line", (line) => {
  // Written by the parent, which has the type.
  const { id, request } = JSON.parse(line) as { id: number; request: PeerRequest };
  perform(request).then(
    (answer) => process.stdout.write(`${JSON.stringify({ id, answer })}\n`),
    (error: unknown) => process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`),
  );
});
process.stdin.once("end", () => process.exit(0));

async function perform(request: PeerRequest): Promise<PeerAnswer> {
  switch (request.kind) {
    case "serve":
      await Promise.all(request.ports.map(serve));
      return { kind: "done" };
    case "try":
      return { kind: "results", results: await tryAll(request) };
    case "spread": {
      const attempts = new Array<Attempt>(request.count).fill(request.attempt);
      const results = await mapWidth(attempts, request.width, (each) =>
        attempt(each, request.timeoutMs),
      );
      return { kind: "counts", counts: count(results, (each) => each.name || each.outcome) };
    }
    case "hammer":
      return { kind: "counts", counts: await hammer(request) };
    case "hold": {
      const opened = await openTcp(request.attempt, request.timeoutMs);
      if (opened === undefined) throw new Error("the connection can't be opened");
      held.set(request.key, opened[0]);
      return { kind: "results", results: [{ outcome: "open", name: opened[1] }] };
    }
    case "echo":
      return { kind: "results", results: [await echo(request.key, request.timeoutMs)] };
    default:
      return request satisfies never;
  }
}

/** Tries each; gives the outcomes in their order. */
async function tryAll(request: PeerRequest & { kind: "try" }): Promise<readonly AttemptResult[]> {
  const { attempts, timeoutMs, width } = request;
  const results: AttemptResult[] = [];
  let pause = Promise.resolve();
  const tryThem = (indices: readonly number[], lanes: number) =>
    mapWidth(indices, lanes, async (index) => {
      const each = attempts[index];
      if (each?.protocol === "icmp") {
        const turn = pause;
        pause = turn.then(() => sleep(BETWEEN_PINGS_MS));
        await turn;
      }
      if (each !== undefined) results[index] = await attempt(each, timeoutMs);
    });
  const [pings, others] = [true, false].map((isPing) =>
    [...attempts.keys()].filter((index) => (attempts[index]?.protocol === "icmp") === isPing),
  );
  await Promise.all([tryThem(pings ?? [], PINGS_AT_ONCE), tryThem(others ?? [], width)]);
  return results;
}

async function serve({ protocol, port }: PeerPort): Promise<void> {
  if (protocol === "udp") {
    const socket = createSocket("udp6");
    socket.on("message", (_bytes, from) => {
      // Whoever asked may be gone.
      socket.send(`${name}\n`, from.port, from.address, () => undefined);
    });
    await new Promise<void>((resolve) => socket.bind(port, () => resolve()));
    return;
  }
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "::", backlog: 4096 }, resolve);
  });
}

async function hammer(request: PeerRequest & { kind: "hammer" }) {
  const counts: Record<string, number> = {};
  const until = performance.now() + request.durationMs;
  const one = async () => {
    while (performance.now() < until) {
      const { outcome } = await attempt(request.attempt, request.timeoutMs);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: request.width }, one));
  return counts;
}

function echo(key: string, timeoutMs: number): Promise<AttemptResult> {
  const socket = held.get(key);
  if (socket === undefined) throw new Error(`no connection is kept as ${key}`);
  return new Promise((resolve) => {
    const end = (outcome: AttemptResult["outcome"]) => {
      clearTimeout(timer);
      socket.off("data", heard);
      socket.off("close", closed);
      resolve({ outcome, name: "" });
    };
    const heard = () => end("open");
    const closed = () => end("refused");
    const timer = setTimeout(() => end("silent"), timeoutMs);
    socket.once("data", heard);
    socket.once("close", closed);
    socket.write("still there?\n");
  });
}

function count(results: readonly AttemptResult[], keyOf: (result: AttemptResult) => string) {
  const counts: Record<string, number> = {};
  for (const result of results) counts[keyOf(result)] = (counts[keyOf(result)] ?? 0) + 1;
  return counts;
}

async function mapWidth<In, Result>(
  list: readonly In[],
  width: number,
  work: (each: In) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < list.length; index = next++) {
      const each = list[index];
      if (each !== undefined) results[index] = await work(each);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, list.length) }, lane));
  return results;
}
