import { eventually, type NatsServer, startNats } from "@ringwall/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectBus, ensureTopology } from "./index.ts";
import { bytes, scriptActor } from "./testing/script-actor.ts";

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats({ config: config(["_INBOX.>"]) });
});
afterAll(() => nats.stop());

function config(subscribe: readonly string[], more: readonly string[] = []): string {
  const publish = ["rw.api.>", "$JS.API.STREAM.INFO.*", ...more];
  return `authorization { users: [
    { user: "all", password: "s3cret" }
    { user: "narrow", password: "s3cret", permissions: {
        publish: ${JSON.stringify(publish)}, subscribe: ${JSON.stringify(subscribe)} } }
  ] }`;
}

const url = (user: string) => nats.url.replace("//", `//${user}:s3cret@`);

describe("a connection with narrow permissions", () => {
  it("has every refused effect come back as denied", async () => {
    const admin = await connectBus({ url: url("all"), name: "all" });
    await ensureTopology(admin);
    const bus = await connectBus({ url: url("narrow"), name: "narrow" });
    const a = await scriptActor(bus);
    const subject = "rw.version.0";
    a.run({ kind: "append", tag: "append", stream: "VERSIONS", subject, payload: bytes("x") });
    a.run({ kind: "listen", listener: "listen", subject: "rw.internal.x" });
    a.run({ kind: "follow", reader: "follow", stream: "VERSIONS", filters: [], from: "all" });
    a.run({ kind: "read-last", tag: "read", stream: "VERSIONS", subject });
    for (const tag of ["append", "listen", "follow", "read"]) {
      const failed = await eventually(
        `${tag} being denied`,
        () => a.seen.find((message) => message.kind === "failed" && message.tag === tag),
        (message) => message !== undefined,
      );
      expect(failed).toMatchObject({ code: "denied" });
    }
    await a.actor.stop(500);
    await bus.close();
    await admin.close();
  });

  it("hears once it may, after its listener was refused, and says so meanwhile", async () => {
    const admin = await connectBus({ url: url("all"), name: "all" });
    const bus = await connectBus({ url: url("narrow"), name: "narrow" });
    const a = await scriptActor(bus);
    a.run({ kind: "listen", listener: "listen", subject: "rw.internal.x" });
    await eventually("the refusal", () => a.driver.problems.length > 0);
    expect(a.driver.problems).toEqual([expect.stringContaining("rw.internal.x")]);
    await nats.restart(config(["_INBOX.>", "rw.internal.x"]));
    await eventually("the listener", () => a.driver.problems.length === 0);
    await admin.whenConnected(60_000);
    admin.nc.publish("rw.internal.x", bytes("hello"));
    await eventually("the message", () => a.seen.some(({ kind }) => kind === "delivery"));
    await a.actor.stop(500);
    await bus.close();
    await admin.close();
  });

  it("reads once it may, after its reader was refused, and says so meanwhile", async () => {
    const admin = await connectBus({ url: url("all"), name: "all" });
    await ensureTopology(admin);
    admin.nc.publish("rw.version.0", bytes("one"));
    const bus = await connectBus({ url: url("narrow"), name: "narrow" });
    const a = await scriptActor(bus);
    const stream = "VERSIONS";
    a.run({ kind: "follow", reader: "late", stream, filters: [], from: "all" });
    await eventually("the refusal", () => a.driver.problems.length > 0);
    expect(a.driver.problems).toEqual([expect.stringContaining(bus.names.stream(stream))]);
    await nats.restart(config(["_INBOX.>"], ["$JS.API.CONSUMER.>", "$JS.API.STREAM.MSG.GET.*"]));
    await eventually("the reader", () => a.driver.problems.length === 0);
    await eventually("the record", () => a.seen.some(({ kind }) => kind === "record"));
    expect(a.seen.filter(({ kind }) => kind === "failed")).toHaveLength(1);
    await a.actor.stop(500);
    await bus.close();
    await admin.close();
  });

  it("is refused at once with wrong credentials when asked to fail fast", async () => {
    const wrong = nats.url.replace("//", "//all:wrong@");
    const failing = connectBus({ url: wrong, name: "wrong", failFast: true });
    await expect(failing).rejects.toMatchObject({ code: "denied" });
    await expect(failing).rejects.not.toThrow("wrong@");
  });
});
