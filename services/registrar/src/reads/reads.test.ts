import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { names } from "@ringwall/bus";
import {
  GetServiceRequestSchema,
  GetServiceResponseSchema,
  ListClaimsRequestSchema,
  ListClaimsResponseSchema,
  ListServicesRequestSchema,
  ListServicesResponseSchema,
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  PortClass,
  Presence,
} from "@ringwall/wire";
import { describe, expect, it } from "vitest";
import { Outbox } from "../outbox.ts";
import { Registry } from "../registry.ts";
import { storedRecord } from "../testing/stored.ts";
import { listWorkloads } from "./list-workloads.ts";
import { ReadEndpoints, WAIT_TIMER } from "./read-endpoints.ts";

const NAMES = names("t");

function list(registry: Registry, request: MessageInitShape<typeof ListWorkloadsRequestSchema>) {
  return listWorkloads(registry, create(ListWorkloadsRequestSchema, request));
}

function ids(answer: { workloads: { id: string }[] }): string[] {
  return answer.workloads.map((record) => record.id);
}

function row(service: string, port: number, portClass: PortClass) {
  return { service, port, ports: [port], portClasses: { [port]: portClass }, weight: 1 };
}

/** Ten workloads: even ones serve a/web, w-3 has a bad row, w-8 has expired, w-9 calls a/web. */
function registry(): Registry {
  const fold = new Registry(NAMES);
  for (let index = 0; index < 10; index += 1) {
    const rows =
      index % 2 === 0
        ? [row("a/web", 80, index < 4 ? PortClass.TCP : PortClass.HTTP)]
        : index === 3
          ? [{ ...row("a/web", 80, PortClass.HTTP), portClasses: {} }]
          : [];
    fold.apply(
      storedRecord(NAMES, index + 1, {
        id: `w-${index}`,
        labels: { app: index % 2 === 0 ? "web" : "db" },
        addresses: [`10.0.0.${index}`, ...(index < 3 ? ["10.9.9.9"] : [])],
        rows,
        outbounds: index === 9 ? ["a/web", "a/none"] : [],
        presence: index === 8 ? Presence.EXPIRED : index === 6 ? Presence.STALE : Presence.LIVE,
      }),
    );
  }
  return fold;
}

describe("listing workloads", () => {
  it("goes through them in byte order, page by page, at the fold's revision", () => {
    const fold = registry();
    const first = list(fold, { limit: 4 });
    expect(ids(first)).toEqual(["w-0", "w-1", "w-2", "w-3"]);
    expect(first).toMatchObject({ more: true, revision: 10n });
    expect(ids(list(fold, { limit: 4, after: "w-7" }))).toEqual(["w-8", "w-9"]);
    expect(list(fold, { limit: 2, after: "w-7" }).more).toBe(false);
    expect(ids(list(fold, { after: "w-9" }))).toEqual([]);
  });

  it("takes all parts of a filter together", () => {
    const fold = registry();
    const filter = { selector: "app=web", services: ["a/web"], ids: ["w-2", "w-3", "w-4"] };
    expect(ids(list(fold, { filter }))).toEqual(["w-2", "w-4"]);
    expect(ids(list(fold, { filter: { services: ["a/web"] }, after: "w-2" }))).toEqual([
      "w-3",
      "w-4",
      "w-6",
      "w-8",
    ]);
    expect(() => list(fold, { filter: { selector: "app" } })).toThrow();
  });

  it("leaves refused rows out and lists them when asked", () => {
    const fold = registry();
    expect(list(fold, { filter: { ids: ["w-3"] } })).toMatchObject({
      workloads: [{ id: "w-3", rows: [] }],
      refused: [],
    });
    expect(list(fold, { onlyRefused: true })).toMatchObject({
      workloads: [{ id: "w-3" }],
      refused: [{ workload: "w-3", reason: "no_port_protocols", row: { service: "a/web" } }],
    });
  });

  it("ends a page before it is too large for a message", () => {
    const fold = new Registry(NAMES);
    const metadata = { text: "x".repeat(100_000) };
    for (let index = 0; index < 10; index += 1) {
      const rows = [{ ...row("a/web", 80, PortClass.HTTP), metadata }];
      fold.apply(storedRecord(NAMES, index + 1, { id: `w-${index}`, rows }));
    }
    const page = list(fold, {});
    expect(page.workloads).toHaveLength(4);
    expect(page.more).toBe(true);
    expect(toBinary(ListWorkloadsResponseSchema, page).length).toBeLessThan(512 * 1024);
  });
});

/** The read endpoints of a registry, asked through their listeners. */
class Reads {
  readonly out = new Outbox();
  readonly endpoints: ReadEndpoints;
  nowMs = 0;

  constructor(fold: Registry) {
    this.endpoints = new ReadEndpoints(NAMES, fold, this.out);
    this.endpoints.open();
    this.out.take();
  }

  ask(listener: string, payload: Uint8Array): void {
    const base = { kind: "delivery", subject: "", headers: {}, replyTo: "me" } as const;
    const moment = { wallMs: 0, monotonicMs: this.nowMs, random: () => 0 };
    expect(this.endpoints.take({ ...base, listener, payload }, moment)).toBe(true);
  }

  /** The payloads of the answers since the last look. */
  answers(): Uint8Array[] {
    return this.out
      .take()
      .flatMap((each) => (each.kind === "fork" ? each.effects : [each]))
      .flatMap((each) => (each.kind === "reply" ? each.payload : []));
  }
}

describe("a service", () => {
  function view(fold: Registry, service: string) {
    const reads = new Reads(fold);
    reads.ask(
      "read.service",
      toBinary(GetServiceRequestSchema, create(GetServiceRequestSchema, { service })),
    );
    return fromBinary(GetServiceResponseSchema, reads.answers()[0] ?? new Uint8Array());
  }

  it("shows elected classes with their votes, endpoints with their health, and callers", () => {
    const { service } = view(registry(), "a/web");
    expect(service?.ports).toMatchObject([
      {
        port: 80,
        elected: PortClass.HTTP,
        votes: [
          { portClass: PortClass.HTTP, votes: 2, workloads: ["w-4", "w-6"] },
          { portClass: PortClass.TCP, votes: 2, workloads: ["w-0", "w-2"] },
        ],
      },
    ]);
    expect(service?.endpoints.map(({ workload, presence }) => [workload, presence])).toEqual([
      ["w-0", Presence.LIVE],
      ["w-2", Presence.LIVE],
      ["w-4", Presence.LIVE],
      ["w-6", Presence.STALE],
    ]);
    expect(service?.endpoints[0]?.addresses).toEqual(["10.0.0.0", "10.9.9.9"]);
    expect(service?.callers).toEqual(["w-9"]);
    expect(service?.refused).toMatchObject([{ workload: "w-3" }]);
  });

  it("that is only called is shown, one that nobody names is not found", () => {
    expect(view(registry(), "a/none").service?.callers).toEqual(["w-9"]);
    expect(view(registry(), "a/other").error?.code).toBe("not_found");
  });

  it("is listed with the number of its endpoints", () => {
    const reads = new Reads(registry());
    reads.ask(
      "read.services",
      toBinary(ListServicesRequestSchema, create(ListServicesRequestSchema)),
    );
    const [answer = new Uint8Array()] = reads.answers();
    expect(fromBinary(ListServicesResponseSchema, answer)).toMatchObject({
      services: [
        { service: "a/none", endpoints: 0, live: 0 },
        { service: "a/web", endpoints: 4, live: 3 },
      ],
      more: false,
    });
  });
});

describe("contested addresses", () => {
  it("are listed with everybody who claims them", () => {
    const reads = new Reads(registry());
    reads.ask("read.claims", toBinary(ListClaimsRequestSchema, create(ListClaimsRequestSchema)));
    const [answer = new Uint8Array()] = reads.answers();
    expect(fromBinary(ListClaimsResponseSchema, answer)).toMatchObject({
      claims: [{ address: "10.9.9.9", workloads: ["w-0", "w-1", "w-2"] }],
      more: false,
    });
  });
});

describe("a read at a revision", () => {
  const request = toBinary(
    ListWorkloadsRequestSchema,
    create(ListWorkloadsRequestSchema, { atLeastRevision: 12n }),
  );

  it("waits until the fold is there", () => {
    const fold = registry();
    const reads = new Reads(fold);
    reads.ask("read.workloads", request);
    fold.apply(storedRecord(NAMES, 11, { id: "x" }));
    reads.endpoints.advanced();
    expect(reads.answers()).toEqual([]);
    fold.apply(storedRecord(NAMES, 12, { id: "y" }));
    reads.endpoints.advanced();
    const [answer = new Uint8Array()] = reads.answers();
    expect(fromBinary(ListWorkloadsResponseSchema, answer)).toMatchObject({ revision: 12n });
  });

  it("says so when the fold does not come there in time", () => {
    const reads = new Reads(registry());
    reads.ask("read.workloads", request);
    expect(reads.out.take()).toMatchObject([{ kind: "timer", id: WAIT_TIMER }]);
    reads.endpoints.timer(4_000);
    expect(reads.answers()).toEqual([]);
    reads.endpoints.timer(5_000);
    const [answer = new Uint8Array()] = reads.answers();
    expect(fromBinary(ListWorkloadsResponseSchema, answer).error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("revision 12 was not reached"),
    });
  });

  it("answers what can't be read with an error", () => {
    const reads = new Reads(registry());
    for (const listener of ["read.workloads", "read.claims", "read.service", "read.services"]) {
      reads.ask(listener, new Uint8Array([255]));
      const [answer = new Uint8Array()] = reads.answers();
      expect(fromBinary(ListWorkloadsResponseSchema, answer).error?.code).toBe("invalid");
    }
  });
});
