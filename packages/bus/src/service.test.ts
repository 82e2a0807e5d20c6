import { Svcm } from "@nats-io/services";
import type { Message } from "@ringwall/actor";
import { eventually, freePort, type NatsServer, startNats } from "@ringwall/testkit";
import { ServiceStatusRequestSchema, ServiceStatusResponseSchema } from "@ringwall/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { api, BusError, type ServiceReducer, serviceOptions, startService } from "./index.ts";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());

function start(create: () => ServiceReducer, flags: readonly string[] = [], lines: string[] = []) {
  return startService({
    service: "echo",
    description: "Answers what it is asked",
    options: serviceOptions(
      ["--nats-url", nats.url, "--http-port", "0", "--http-host", "127.0.0.1", ...flags],
      {},
    ),
    create,
    logDestination: { write: (line: string) => lines.push(line) },
  });
}

function echo(seen: Message[] = []): ServiceReducer {
  return {
    status: () => ({ slots: ["echo.0"] }),
    step(message) {
      seen.push(message);
      if (message.kind === "start") {
        return [
          { kind: "listen", listener: "echo", subject: "rw.api.echo.say", queue: "echo" },
          { kind: "ready", ready: true },
        ];
      }
      if (message.kind === "delivery" && message.replyTo !== undefined) {
        return [{ kind: "reply", to: message.replyTo, payload: message.payload }];
      }
      return [];
    },
  };
}

const page = async (port: number | undefined, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, body: await response.text() };
};

describe("startService", () => {
  it("serves health, answers requests, and ends with a stop message", async () => {
    const seen: Message[] = [];
    const service = await start(() => echo(seen));
    await eventually(
      "readiness",
      () => service.problems(),
      (problems) => problems.length === 0,
    );
    expect((await page(service.httpPort, "/livez")).status).toBe(200);
    expect(await page(service.httpPort, "/readyz")).toEqual({ status: 200, body: "ok\n" });
    const answer = await service.bus.nc.request("rw.api.echo.say", "hello");
    expect(answer.string()).toBe("hello");
    await eventually("the gauges", async () =>
      (await page(service.httpPort, "/metrics")).body.includes("ringwall_bus_connected 1"),
    );
    await service.stop();
    await service.ended;
    expect(seen.at(-1)?.kind).toBe("stop");
  });

  it("is found and counted by standard service discovery", async () => {
    const service = await start(() => echo(), ["--instance", "one"]);
    await eventually("readiness", () => service.problems().length === 0);
    await service.bus.nc.request("rw.api.echo.say", "hello");
    const client = new Svcm(service.bus.nc).client();
    const stats = [];
    for await (const each of await client.stats("rw-echo")) {
      stats.push(each);
    }
    expect(stats).toHaveLength(1);
    expect(stats[0]).toMatchObject({ name: "rw-echo", id: "one", version: "0.1.0" });
    const say = stats[0]?.endpoints?.find((endpoint) => endpoint.name === "echo-say");
    expect(say).toMatchObject({ subject: "rw.api.echo.say", queue_group: "echo", num_requests: 1 });
    await service.stop();
  });

  it("tells its state through service.status, each instance for itself", async () => {
    const one = await start(() => echo(), ["--instance", "one"]);
    const two = await start(() => echo(), ["--instance", "two"]);
    const answers = await api(one.bus).callAll(
      "service",
      "status",
      ServiceStatusRequestSchema,
      ServiceStatusResponseSchema,
      {},
    );
    expect(answers.map((answer) => answer.instance).sort()).toEqual(["one", "two"]);
    expect(answers[0]).toMatchObject({ service: "echo", environment: "prod", slots: ["echo.0"] });
    await Promise.all([one.stop(), two.stop()]);
  });

  it("says why it is not ready", async () => {
    const service = await start(() => ({
      step: (message) =>
        message.kind === "start"
          ? [{ kind: "ready", ready: false, reason: "held: no commit" }]
          : [],
    }));
    await eventually("the reason", () => service.problems()[0] === "held: no commit");
    expect(await page(service.httpPort, "/readyz")).toEqual({
      status: 503,
      body: "held: no commit\n",
    });
    await service.stop();
  });

  it("warns on /readyz when the server does not sync or its topology differs", async () => {
    const port = await freePort();
    const lazy = await startNats({ config: `http: "127.0.0.1:${port}"` });
    const monitor = `http://127.0.0.1:${port}`;
    const flags = ["--nats-url", lazy.url, "--nats-monitor-url", monitor];
    const first = await start(() => echo(), flags);
    const { config } = await first.bus.jsm.streams.info("rw-RENDERED");
    await first.bus.jsm.streams.update("rw-RENDERED", { ...config, max_msgs_per_subject: 5 });
    await first.stop();
    const service = await start(() => echo(), flags);
    await eventually("readiness", () => service.problems().length === 0);
    const { status, body } = await page(service.httpPort, "/readyz");
    expect(status).toBe(200);
    expect(body).toContain("warning: topology: rw-RENDERED has max_msgs_per_subject 5, not 10000");
    expect(body).toContain("warning: nats-server syncs its store every 120 s");
    await service.stop();
    await lazy.stop();
  });

  it("ends with the error when its reducer throws", async () => {
    const service = await start(() => ({
      step: () => {
        throw new Error("broken");
      },
    }));
    await expect(service.ended).rejects.toThrow("broken");
    await service.stop();
  });

  it("creates a stream again that was deleted under it, and tells its readers", async () => {
    const seen: Message[] = [];
    const service = await start(() => ({
      step(message) {
        seen.push(message);
        return message.kind === "start" || message.kind === "timer"
          ? [{ kind: "follow", reader: "r", stream: "VERSIONS", filters: [], from: "all" }]
          : message.kind === "reader-lost"
            ? [{ kind: "timer", id: "again", delayMs: 200 }]
            : [];
      },
    }));
    const caughtUp = () => seen.filter((message) => message.kind === "caught-up").length;
    await eventually("the first time", () => caughtUp() === 1);
    await service.bus.jsm.streams.delete("rw-VERSIONS");
    await eventually("the second time", () => caughtUp() === 2);
    expect(seen.some((message) => message.kind === "reader-lost")).toBe(true);
    await service.stop();
  });

  it("refuses a port in use with a clear error", async () => {
    const first = await start(() => echo());
    const second = start(() => echo(), ["--http-port", String(first.httpPort)]);
    await expect(second).rejects.toMatchObject({ code: "port-in-use" });
    await first.stop();
  });

  it("gives up at once when asked to and NATS is not there", async () => {
    const lines: string[] = [];
    const failing = start(() => echo(), ["--nats-url", "nats://127.0.0.1:1", "--fail-fast"], lines);
    await expect(failing).rejects.toMatchObject({ code: "unreachable" });
  });

  it("waits for NATS with one line when it begins and one when it is there", async () => {
    const away = await startNats();
    await away.kill();
    const lines: string[] = [];
    const starting = start(() => echo(), ["--nats-url", away.url], lines);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(lines.filter((line) => line.includes("not reachable"))).toHaveLength(1);
    await away.restart();
    const service = await starting;
    expect(lines.filter((line) => line.includes("NATS is reachable"))).toHaveLength(1);
    await service.stop();
    await away.stop();
  });

  it("does not answer for another prefix", async () => {
    const service = await start(() => echo(), ["--prefix", "other"]);
    const call = api(service.bus).call(
      "nobody",
      "there",
      ServiceStatusRequestSchema,
      ServiceStatusResponseSchema,
      {},
    );
    await expect(call).rejects.toBeInstanceOf(BusError);
    await expect(call).rejects.toMatchObject({ code: "no-responders" });
    await service.stop();
  });
});

describe("serviceOptions", () => {
  it("takes flags before variables before defaults, the service's own included", () => {
    const own = [
      { key: "quietMs", variable: "RINGWALL_QUIET_MS", default: "10", help: "quiet time" },
    ];
    const options = serviceOptions(
      ["--prefix", "a"],
      { RINGWALL_PREFIX: "b", RINGWALL_ENVIRONMENT: "staging", RINGWALL_QUIET_MS: "20" },
      own,
    );
    expect(options).toMatchObject({ prefix: "a", environment: "staging", own: { quietMs: "20" } });
    expect(serviceOptions(["--quiet-ms", "30"], {}, own).own.quietMs).toBe("30");
    expect(options.instance).toMatch(/^[0-9a-f]{8}$/);
  });

  it.each([
    [["--http-port", "70000"], "0 to 65535"],
    [["--prefix", "Upper"], "prefix"],
    [["--instance", "a.b"], "a-z0-9_-"],
    [["--nonsense"], "nonsense"],
  ])("refuses %j and says what is allowed", (argv, words) => {
    expect(() => serviceOptions(argv, {})).toThrow(words);
  });
});
