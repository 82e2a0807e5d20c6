import { describe, expect, it } from "vitest";
import { formatAlwaysAccept, parseAlwaysAccept } from "./always-accept.ts";
import { parseEstate } from "./estate.ts";
import { parseAnnotations } from "./inventory.ts";

describe("parseAnnotations", () => {
  it("reads a JSON object of strings", () => {
    expect(parseAnnotations('{"a/b": "1"}')).toEqual({ "a/b": "1" });
  });

  it("reads the lines of the downward API", () => {
    const text = '# comment\nendpoint.aether.io/port="8080"\nbare=x=y\n\nq="a\\"b"\n';
    expect(parseAnnotations(text)).toEqual({
      "endpoint.aether.io/port": "8080",
      bare: "x=y",
      q: 'a"b',
    });
  });

  it.each(["no equals sign", 'a="open', '{"a": 1}', "{broken"])("refuses %s", (text) => {
    expect(() => parseAnnotations(text)).toThrow();
  });

  it("refuses more than 256 KiB and states both values", () => {
    expect(() => parseAnnotations("#".repeat(262_145))).toThrow("262145 bytes, at most 262144");
  });
});

describe("parseEstate", () => {
  it("reads workloads with what they serve", () => {
    const [first] = parseEstate([
      { workload: "web-1", addresses: ["10.0.0.1"], services: ["shop/web"], stateDir: "/s" },
    ]);
    expect(first).toMatchObject({ workload: "web-1", addresses: ["10.0.0.1"], stateDir: "/s" });
  });

  it("tells of every fault at once", () => {
    const parse = () => parseEstate([{ workload: "Web", labels: {} }, { workload: "a" }, 7]);
    expect(parse).toThrow('workload: "Web"');
    expect(parse).toThrow("labels: is not known");
    expect(parse).toThrow("[2]: is not an object");
  });

  it("refuses a workload that is there twice", () => {
    expect(() => parseEstate([{ workload: "a" }, { workload: "a" }])).toThrow('"a" is there twice');
  });
});

describe("parseAlwaysAccept", () => {
  it("reads entries separated by commas and lines", () => {
    const ports = parseAlwaysAccept("tcp/22, udp/68 # rescue\n\ntcp/9100\n");
    expect(formatAlwaysAccept(ports)).toBe("tcp/22,udp/68,tcp/9100");
  });

  it.each(["22", "tcp/0", "tcp/65536", "icmp/1"])("refuses %s", (entry) => {
    expect(() => parseAlwaysAccept(entry)).toThrow(entry);
  });
});
