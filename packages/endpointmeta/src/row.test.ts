import { PortClass } from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkRow,
  checkServiceKey,
  DEFAULT_RESERVED_PORTS,
  EndpointError,
  electPortClass,
  isServiceKey,
  metadata,
  parseServiceKey,
  portProtocols,
  ports,
  protocolsServed,
  readRow,
  reservedPorts,
  rowProblem,
} from "./index.ts";

const E = "endpoint.aether.io/";

const number = fc.integer({ min: 0, max: 65_535 });
const entry = fc
  .tuple(number, fc.constantFrom("", "=tcp", " = UDP", "=h1", "=h2", "="))
  .map(([port, suffix]) => `${port}${suffix}`);
const annotations = fc
  .record(
    {
      port: number.map(String),
      ports: fc.array(entry, { maxLength: 6 }).map((entries) => entries.join(" ,")),
      protocol: fc.constantFrom("", "http", "tcp", "udp"),
      weight: fc.nat({ max: 0xffff_ffff }).map(String),
    },
    { requiredKeys: [] },
  )
  .map((parts) => Object.fromEntries(Object.entries(parts).map(([key, text]) => [E + key, text])));

describe("readRow", () => {
  it("reads the documented example", () => {
    const row = readRow("team-a/echo", {
      [`${E}ports`]: "8080,9090=h2,9000=tcp,53=udp",
      [`${E}weight`]: "10",
      "metadata.endpoint.aether.io/version": "v2",
    });
    expect(row).toEqual({
      service: "team-a/echo",
      port: 8080,
      ports: [53, 8080, 9000, 9090],
      portClasses: {
        8080: PortClass.HTTP,
        9090: PortClass.HTTP,
        9000: PortClass.TCP,
        53: PortClass.UDP,
      },
      weight: 10,
      metadata: { version: "v2" },
    });
  });

  it("has the defaults without annotations", () => {
    expect(readRow("a/b", undefined)).toEqual({
      service: "a/b",
      port: 8080,
      ports: [8080],
      portClasses: { 8080: PortClass.HTTP },
      weight: 1024,
      metadata: {},
    });
  });

  it("checks the service key strictly", () => {
    expect(() => readRow("Team-A/echo", {})).toThrow(
      expect.objectContaining({ code: "service-key", value: "Team-A/echo" }),
    );
  });

  it("never gives a row with a problem, and lists exactly the typed ports", () => {
    fc.assert(
      fc.property(annotations, (given) => {
        const row = readRow("team-a/echo", given);
        expect(rowProblem(row)).toBe("");
        expect(row.ports).toEqual(Object.keys(portProtocols(given)).map(Number));
        expect(row.ports).toEqual(ports(given, row.port));
      }),
    );
  });
});

describe("checkRow", () => {
  it("names the port that has the problem", () => {
    const row = { port: 8080, ports: [8080, 9000], portClasses: { 8080: PortClass.HTTP } };
    expect(() => checkRow(row)).toThrow(
      expect.objectContaining({ code: "port_not_typed", value: "9000" }),
    );
  });

  it("refuses exactly the rows that have a problem", () => {
    const rows = fc.record(
      {
        port: fc.constantFrom(0, 80, 81),
        ports: fc.subarray([0, 80, 81, 82]),
        portClasses: fc.dictionary(
          fc.constantFrom("0", "80", "81", "82"),
          fc.constantFrom(0, 1, 2, 3, 4),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(rows, (row) => {
        const problem = rowProblem(row);
        let code = "";
        try {
          checkRow(row);
        } catch (error) {
          code = error instanceof EndpointError ? error.code : "another error";
        }
        expect(code).toBe(problem);
      }),
    );
  });
});

describe("electPortClass", () => {
  it("follows the votes whatever their order, and never elects a class without a vote", () => {
    const votes = fc.dictionary(
      fc.constantFrom("0", "1", "2", "3", "99"),
      fc.integer({ min: -2, max: 5 }),
    );
    fc.assert(
      fc.property(votes, (given) => {
        const elected = electPortClass(given);
        const standing = [1, 2, 3].filter((each) => (given[each] ?? 0) > 0);
        const most = Math.max(0, ...standing.map((each) => given[each] ?? 0));
        const wanted = standing.find((each) => given[each] === most) ?? 0;
        expect(elected).toBe(wanted);
      }),
    );
  });

  it("is unspecified without votes", () => {
    expect(electPortClass(undefined)).toBe(PortClass.UNSPECIFIED);
  });
});

describe("protocolsServed", () => {
  it("keeps classes of a later build and sorts by number", () => {
    expect(protocolsServed({ 1: 99, 2: PortClass.UDP, 3: PortClass.HTTP, 4: 99 })).toEqual([
      1, 3, 99,
    ]);
  });
});

describe("metadata", () => {
  it("takes __proto__ as an ordinary key", () => {
    const found = metadata(JSON.parse('{"metadata.endpoint.aether.io/__proto__":"x"}'));
    expect(Object.entries(found)).toEqual([["__proto__", "x"]]);
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
  });

  it("skips the prefix without a name", () => {
    expect(metadata({ "metadata.endpoint.aether.io/": "x" })).toEqual({});
  });
});

describe("reservedPorts", () => {
  it("takes the ports that the mesh reserves", () => {
    const given = { [`${E}port`]: "9999", [`${E}ports`]: "18001,7,9998" };
    expect(reservedPorts(given)).toEqual([18_001]);
    expect(reservedPorts(given, [9999, 7, 7, 1])).toEqual([7, 9999]);
    expect(reservedPorts(given, [])).toEqual([]);
    expect(reservedPorts(undefined, [8080, -1])).toEqual([8080]);
    expect(DEFAULT_RESERVED_PORTS).toEqual([18_001, 18_008, 18_081, 18_082]);
  });
});

describe("service keys", () => {
  it("reads leniently and checks strictly", () => {
    expect(parseServiceKey("Team.A/echo_1")).toEqual({ namespace: "Team.A", service: "echo_1" });
    expect(isServiceKey("Team.A/echo_1")).toBe(false);
    expect(checkServiceKey("team-a/echo-1")).toBe("team-a/echo-1");
  });

  it.each([
    "",
    "a",
    "a/",
    "/b",
    "a/b/c",
    "-a/b",
    "a-/b",
    "a/B",
    "a/b\n",
    `${"a".repeat(64)}/b`,
    "a.b/c",
  ])("refuses %j strictly", (text) => {
    expect(isServiceKey(text)).toBe(false);
    expect(() => checkServiceKey(text)).toThrow(expect.objectContaining({ code: "service-key" }));
  });

  it("takes parts of 63 bytes", () => {
    expect(isServiceKey(`${"a".repeat(63)}/${"9".repeat(63)}`)).toBe(true);
  });
});
