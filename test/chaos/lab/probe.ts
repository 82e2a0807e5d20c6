// Preloaded into a service: answers its parent process with what is left of its memory after full
// collections, or records a CPU profile. It does not keep the process alive.
import { Session } from "node:inspector/promises";

const COLLECTIONS = 3;

const session = new Session();

process.on("message", (message) => {
  if (message === "memory") {
    for (let index = 0; index < COLLECTIONS; index += 1) globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send?.({ heapUsed, external, rss });
  } else if (message === "profile-start") {
    void start();
  } else if (message === "profile-stop") {
    void stop();
  }
});
process.channel?.unref();

async function start(): Promise<void> {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  process.send?.("");
}

async function stop(): Promise<void> {
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  process.send?.(JSON.stringify(profile));
}
