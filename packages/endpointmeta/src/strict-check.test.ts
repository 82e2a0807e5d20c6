import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EndpointError, type Problem, readRow, strictCheck } from "./index.ts";

const E = "endpoint.aether.io/";

/** Annotations by the last part of their key. */
function annotate(parts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([key, value]) => [E + key, value]));
}

/** `code annotation entry value`, the annotation by the last part of its key. */
function brief({ code, annotation, entry, value }: Problem): string {
  return [code, annotation.replace(E, ""), entry, value].join("|");
}

const CASES: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
  // Nothing to report.
  [{}, []],
  [{ port: "8080" }, []],
  [{ port: "0008080" }, []],
  [{ port: "65535", ports: "1" }, []],
  [{ ports: "" }, []],
  [{ ports: " , ," }, []],
  [{ ports: "9000=tcp,9001=udp,9090=h2" }, []],
  [{ ports: "9000 = TCP ,9090=HTTP/1.1" }, []],
  [{ port: "9000", protocol: "tcp", ports: "9000,5432" }, []],
  [{ port: "9000", protocol: "tcp", ports: "9000=tcp" }, []],
  [{ port: "8080", ports: "8080=h1,8080=h2,8080" }, []],
  [{ ports: "9000=tcp,9000=TCP,09000=tcp" }, []],
  [{ ports: "9000,9000=http2" }, []],
  [{ protocol: "" }, []],
  [{ weight: "0" }, []],
  [{ weight: "4294967295" }, []],
  // Annotations that do not parse.
  [{ port: "" }, ["port|port||"]],
  [{ port: " 80" }, ["port|port|| 80"]],
  [{ port: "65536" }, ["port|port||65536"]],
  [{ port: "http" }, ["port|port||http"]],
  [{ port: "80,443" }, ["port|port||80,443"]],
  [{ protocol: "TCP" }, ["protocol|protocol||TCP"]],
  [{ protocol: "grpc" }, ["protocol|protocol||grpc"]],
  [{ protocol: " " }, ["protocol|protocol|| "]],
  [{ weight: "" }, ["weight|weight||"]],
  [{ weight: "-1" }, ["weight|weight||-1"]],
  [{ weight: "4294967296" }, ["weight|weight||4294967296"]],
  [{ ports: "oops" }, ["ports-entry|ports|oops|oops"]],
  [{ ports: "=" }, ["ports-entry|ports|=|"]],
  [{ ports: "=tcp" }, ["ports-entry|ports|=tcp|"]],
  [{ ports: "9000-9010" }, ["ports-entry|ports|9000-9010|9000-9010"]],
  [{ ports: "65536=tcp" }, ["ports-entry|ports|65536=tcp|65536"]],
  [{ ports: "a,b" }, ["ports-entry|ports|a|a", "ports-entry|ports|b|b"]],
  [{ ports: "9000\ufeff" }, ["ports-entry|ports|9000\ufeff|9000\ufeff"]],
  // Unknown suffixes.
  [{ ports: "9000=grpc" }, ["port-protocol-suffix|ports|9000=grpc|grpc"]],
  [{ ports: "9000=http" }, ["port-protocol-suffix|ports|9000=http|http"]],
  [{ ports: "9000=h2=x" }, ["port-protocol-suffix|ports|9000=h2=x|h2=x"]],
  [
    { ports: "9000=tls,9001=quic" },
    ["port-protocol-suffix|ports|9000=tls|tls", "port-protocol-suffix|ports|9001=quic|quic"],
  ],
  [{ ports: "x=quic" }, ["ports-entry|ports|x=quic|x", "port-protocol-suffix|ports|x=quic|quic"]],
  // Port 0.
  [{ port: "0" }, ["port-zero|port||0"]],
  [{ port: "00" }, ["port-zero|port||00"]],
  [{ ports: "0" }, ["port-zero|ports|0|0"]],
  [{ ports: "0=udp" }, ["port-zero|ports|0=udp|0"]],
  [{ ports: "0,00" }, ["port-zero|ports|0|0"]],
  [{ port: "0", ports: "0" }, ["port-zero|port||0", "port-zero|ports|0|0"]],
  // Reserved ports.
  [{ port: "18081" }, ["port-reserved|port||18081"]],
  [{ ports: "18001" }, ["port-reserved|ports|18001|18001"]],
  [{ ports: "018082=tcp" }, ["port-reserved|ports|018082=tcp|018082"]],
  [{ ports: "18008,18008" }, ["port-reserved|ports|18008|18008"]],
  [
    { port: "18008", ports: "18008" },
    ["port-reserved|port||18008", "port-reserved|ports|18008|18008"],
  ],
  [
    { ports: "18082,18081" },
    ["port-reserved|ports|18082|18082", "port-reserved|ports|18081|18081"],
  ],
  [
    { ports: "18001=quic" },
    ["port-reserved|ports|18001=quic|18001", "port-protocol-suffix|ports|18001=quic|quic"],
  ],
  // Conflicting duplicates.
  [{ ports: "9001=tcp,9001=udp" }, ["port-conflict|ports|9001=udp|udp"]],
  [{ ports: "9001=tcp,9001" }, ["port-conflict|ports|9001|"]],
  [{ ports: "9001,9001=tcp" }, ["port-conflict|ports|9001=tcp|tcp"]],
  [{ ports: "09001=tcp,9001=udp" }, ["port-conflict|ports|9001=udp|udp"]],
  [
    { ports: "9001=tcp,9001=udp,9001=tcp" },
    ["port-conflict|ports|9001=udp|udp", "port-conflict|ports|9001=tcp|tcp"],
  ],
  [{ protocol: "tcp", ports: "9001=tcp,9001" }, []],
  [{ ports: "9001=tcp,9001=quic" }, ["port-protocol-suffix|ports|9001=quic|quic"]],
  // The primary retyped.
  [{ ports: "8080=tcp" }, ["primary-retyped|ports|8080=tcp|tcp"]],
  [{ port: "53", protocol: "udp", ports: "53=tcp" }, ["primary-retyped|ports|53=tcp|tcp"]],
  [{ port: "9000", protocol: "tcp", ports: "9000=h2" }, ["primary-retyped|ports|9000=h2|h2"]],
  [{ ports: "8080=tcp,8080=tcp" }, ["primary-retyped|ports|8080=tcp|tcp"]],
  [
    { ports: "8080=tcp,8080=udp" },
    [
      "primary-retyped|ports|8080=tcp|tcp",
      "port-conflict|ports|8080=udp|udp",
      "primary-retyped|ports|8080=udp|udp",
    ],
  ],
  [
    { port: "53", protocol: "udp", ports: "53=udp,53=tcp" },
    ["port-conflict|ports|53=tcp|tcp", "primary-retyped|ports|53=tcp|tcp"],
  ],
  // What depends on an annotation that does not parse is not judged.
  [{ protocol: "sctp", ports: "8080=tcp" }, ["protocol|protocol||sctp"]],
  [{ protocol: "sctp", ports: "9000,9000=tcp" }, ["protocol|protocol||sctp"]],
  [{ port: "bad", ports: "8080=tcp" }, ["port|port||bad"]],
  // Keys that nothing reads.
  [{ prots: "80" }, ["unknown-annotation|prots||80"]],
  [{ Port: "80" }, ["unknown-annotation|Port||80"]],
  [
    { weigth: "1", protocl: "tcp" },
    ["unknown-annotation|protocl||tcp", "unknown-annotation|weigth||1"],
  ],
  // Everything at once, in order.
  [
    { protocol: "TLS", port: "0", ports: "x,18001=tcp,18001=udp,0=quic", weight: "w", nope: "" },
    [
      "protocol|protocol||TLS",
      "port-zero|port||0",
      "ports-entry|ports|x|x",
      "port-reserved|ports|18001=tcp|18001",
      "port-conflict|ports|18001=udp|udp",
      "port-zero|ports|0=quic|0",
      "port-protocol-suffix|ports|0=quic|quic",
      "weight|weight||w",
      "unknown-annotation|nope||",
    ],
  ],
];

describe("strictCheck", () => {
  it.each(CASES)("%j", (parts, wanted) => {
    expect(strictCheck(annotate(parts)).map(brief)).toEqual(wanted);
  });

  it("has at least sixty cases", () => {
    expect(CASES.length).toBeGreaterThanOrEqual(60);
  });

  it("finds nothing in absent annotations and in those of others", () => {
    expect(strictCheck(undefined)).toEqual([]);
    expect(strictCheck({ "metadata.endpoint.aether.io/a": "", "other.io/port": "x" })).toEqual([]);
  });

  it("reports a metadata key without a name", () => {
    expect(strictCheck({ "metadata.endpoint.aether.io/": "x" }).map(({ code }) => code)).toEqual([
      "unknown-annotation",
    ]);
  });

  it("takes other reserved ports, the default primary included", () => {
    const reserved = { reservedPorts: [8080, 9999] };
    expect(strictCheck(annotate({ ports: "18001,9999" }), reserved).map(brief)).toEqual([
      "port-reserved|port||8080",
      "port-reserved|ports|9999|9999",
    ]);
    expect(strictCheck(annotate({ port: "18081" }), { reservedPorts: [] })).toEqual([]);
  });

  it("says what to write instead", () => {
    expect(strictCheck(annotate({ ports: "9000=grpc" }))[0]?.message).toBe(
      '"grpc" names no protocol; write one of h1, http1, http/1.1, h2, http2, tcp, udp',
    );
    expect(strictCheck(annotate({ ports: "8080=tcp" }))[0]?.message).toBe(
      "the primary port 8080 becomes TCP although the workload's protocol is HTTP; " +
        "set endpoint.aether.io/protocol instead",
    );
  });

  it("reports the code of whatever the compatible reading refuses", () => {
    const text = fc.oneof(
      fc.constantFrom("", "0", "80", "8080", "18001", "70000", "tcp", "http", "x", " 80"),
      fc.array(fc.constantFrom("80", "80=tcp", "81=udp", "82=grpc", "x=tcp", "", "0")).map(String),
    );
    const parts = fc.record(
      { port: text, ports: text, protocol: text, weight: text },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(parts, (given) => {
        const annotations = annotate(given);
        const codes: readonly string[] = strictCheck(annotations).map(({ code }) => code);
        try {
          readRow("team-a/echo", annotations);
        } catch (error) {
          expect(error).toBeInstanceOf(EndpointError);
          expect(codes).toContain(error instanceof EndpointError ? error.code : "");
        }
      }),
    );
  });
});
