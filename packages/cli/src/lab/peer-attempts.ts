import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { createConnection, type Socket } from "node:net";
import type { Attempt, AttemptResult } from "./peer-messages.ts";

/** Tries one connection. Never rejects. */
export function attempt(what: Attempt, timeoutMs: number): Promise<AttemptResult> {
  switch (what.protocol) {
    case "tcp":
      return tryTcp(what, timeoutMs);
    case "udp":
      return tryUdp(what, timeoutMs);
    case "icmp":
      return ping(what, timeoutMs);
    default:
      return what.protocol satisfies never;
  }
}

/** Opens a TCP connection and reads the name of the far end; undefined if that fails. */
export function openTcp(what: Attempt, timeoutMs: number): Promise<[Socket, string] | undefined> {
  return new Promise((resolve) => {
    const socket = connect(what);
    const end = (opened: [Socket, string] | undefined) => {
      clearTimeout(timer);
      if (opened === undefined) socket.destroy();
      resolve(opened);
    };
    const timer = setTimeout(() => end(undefined), timeoutMs);
    socket.once("data", (bytes) => end([socket, bytes.toString("utf8").trim()]));
    socket.on("error", () => end(undefined));
  });
}

function connect({ address, port, source }: Attempt): Socket {
  return createConnection({
    host: address,
    port,
    ...(source === undefined ? {} : { localAddress: source }),
  });
}

function tryTcp(what: Attempt, timeoutMs: number): Promise<AttemptResult> {
  return new Promise((resolve) => {
    const socket = connect(what);
    const end = (outcome: AttemptResult["outcome"], name = "") => {
      stop();
      // A reset frees the port at once: thousands of attempts do not run out of them. One that is
      // not connected would wait for that with its reset, and ask for minutes.
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
      resolve({ outcome, name });
    };
    const stop = afterLastLook(timeoutMs, () => end("silent"));
    socket.once("data", (bytes) => end("open", bytes.toString("utf8").trim()));
    socket.once("error", () => end("refused"));
    socket.once("end", () => end("refused"));
  });
}

function tryUdp(what: Attempt, timeoutMs: number): Promise<AttemptResult> {
  return new Promise((resolve) => {
    const socket = createSocket(what.address.includes(":") ? "udp6" : "udp4");
    const end = (outcome: AttemptResult["outcome"], name = "") => {
      stop();
      socket.removeAllListeners();
      socket.on("error", () => undefined);
      socket.close();
      resolve({ outcome, name });
    };
    const stop = afterLastLook(timeoutMs, () => end("silent"));
    socket.once("message", (bytes) => end("open", bytes.toString("utf8").trim()));
    socket.once("error", () => end("refused"));
    const { source } = what;
    socket.bind(source === undefined ? {} : { address: source }, () => {
      socket.connect(what.port, what.address, () => {
        socket.send("hello\n", (error) => {
          if (error !== null) end("refused");
        });
      });
    });
  });
}

/** Calls later, once what has arrived by then is read; gives what calls it off. */
function afterLastLook(timeoutMs: number, then: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(then);
  }, timeoutMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

function ping(what: Attempt, timeoutMs: number): Promise<AttemptResult> {
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  const family = what.address.includes(":") ? "-6" : "-4";
  const source = what.source === undefined ? [] : ["-I", what.source];
  return new Promise((resolve) => {
    const args = [family, "-n", "-c", "1", "-W", seconds, ...source, what.address];
    const child = spawn("ping", args, { stdio: "ignore" });
    child.once("error", () => resolve({ outcome: "refused", name: "ping is not installed" }));
    child.once("close", (code) => {
      resolve({ outcome: code === 0 ? "open" : "silent", name: "" });
    });
  });
}
