import type { Scenario } from "../scenario.ts";

/** kill -9 of the server; it comes back with its store. */
export const killServer: Scenario = {
  name: "kill-server",
  fault: "kill -9 of nats-server, started again on its store",
  async run(trial) {
    const { server } = trial.parts;
    await trial.load(1000);
    await server.kill();
    await trial.pass(1000);
    await server.restart();
    const sinceMs = performance.now();
    return { toHeadMs: await trial.settle(sinceMs) };
  },
};

/** The server answers nobody for a while; nobody sees a connection end. */
export const freezeServer: Scenario = {
  name: "freeze-server",
  fault: "SIGSTOP of nats-server, which wakes later",
  async run(trial) {
    const { server } = trial.parts;
    await trial.load(1000);
    server.pause();
    await trial.pass(trial.ms({ ci: 8000, full: 30_000 }));
    server.resume();
    const sinceMs = performance.now();
    return { toHeadMs: await trial.settle(sinceMs) };
  },
};
