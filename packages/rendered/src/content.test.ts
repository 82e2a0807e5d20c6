import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  BodyManifestSchema,
  EndpointSetSchema,
  PeerSetSchema,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assemble,
  bodyDigest,
  canonical,
  content,
  marshal,
  RenderedError,
  references,
  withVersion,
} from "./index.ts";
import { policy } from "./policies.arbitrary.ts";

const sample = () =>
  create(WorkloadPolicySchema, {
    version: 4n,
    mode: 3,
    inboundRules: [
      { ruleId: "a/tcp", peerCidrs: ["10.0.0.2", "10.0.0.1"], protocol: 1 },
      { ruleId: "b/tcp", peerCidrs: ["10.0.0.1", "10.0.0.2"], protocol: 1 },
    ],
  });

describe("bodyDigest", () => {
  it("is SHA-256 over the type byte and the library's encoding of the manifest", () => {
    fc.assert(
      fc.property(policy, (message) => {
        expect(bodyDigest(message)).toBe(digestOf(3, plainManifest(canonical(message))));
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on the version", () => {
    const body = canonical(sample());
    expect(bodyDigest(withVersion(body, 9n))).toBe(bodyDigest(body));
    expect(bodyDigest({ ...sample(), version: 9n })).toBe(bodyDigest(body));
  });
});

describe("content", () => {
  it("holds the manifest and exactly the sets that it names, each under its digest", () => {
    fc.assert(
      fc.property(policy, (message) => {
        const { digest, objects } = content(message);
        const manifest = objects.get(digest) ?? new Uint8Array();
        expect(new Set([...references(manifest), digest])).toEqual(new Set(objects.keys()));
        for (const [name, bytes] of objects) {
          expect([1, 2, 3].map((type) => digestOf(type, bytes))).toContain(name);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("stores a set that two rules share once", () => {
    expect(content(sample()).objects.size).toBe(2);
  });

  it("leaves out what is stored", () => {
    const stored = content(sample()).objects;
    const changed = sample();
    changed.inboundRules[0]?.peerCidrs.push("10.0.0.3");
    const { digest, objects } = content(changed, (name) => stored.has(name));
    expect(objects.size).toBe(2);
    expect(objects.has(digest)).toBe(true);
  });
});

describe("assemble", () => {
  it("puts back together what content took apart", () => {
    fc.assert(
      fc.property(policy, (message) => {
        const { digest, objects } = content(message);
        const body = assemble(
          objects.get(digest) ?? new Uint8Array(),
          (name) => objects.get(name),
          message.version,
        );
        expect(marshal(body)).toEqual(marshal(message));
        expect(bodyDigest(body)).toBe(digest);
      }),
      { numRuns: 500 },
    );
  });

  it("shares sets between policies that are read from the same bytes", () => {
    const { manifest, lookup } = stored(sample());
    const first = assemble(manifest, lookup, 1n);
    const second = assemble(manifest, lookup, 2n);
    expect(second.inboundRules[0]?.peerCidrs).toBe(first.inboundRules[1]?.peerCidrs);
  });

  it("names the object that is missing", () => {
    const { manifest } = stored(sample());
    const [missing] = references(manifest);
    const run = () => assemble(manifest, () => undefined, 1n);
    expect(codeOf(run)).toBe("missing-content");
    expect(run).toThrow(missing);
  });

  it("refuses a set that is not what its digest says", () => {
    const { manifest } = stored(sample());
    expect(codeOf(() => assemble(manifest, () => Uint8Array.of(0x0a, 0), 1n))).toBe(
      "corrupt-content",
    );
  });

  it("refuses a set and a manifest that are not canonical", () => {
    const unsorted = toBinary(PeerSetSchema, create(PeerSetSchema, { cidrs: ["b", "a"] }));
    const sorted = toBinary(PeerSetSchema, create(PeerSetSchema, { cidrs: ["a", "b"] }));
    const naming = (set: Uint8Array, ids: string[]) =>
      toBinary(
        BodyManifestSchema,
        create(BodyManifestSchema, {
          rules: ids.map((id) => ({ id, peers: Buffer.from(digestOf(1, set), "hex") })),
        }),
      );
    expect(codeOf(() => assemble(naming(unsorted, ["a"]), () => unsorted, 1n))).toBe(
      "corrupt-content",
    );
    expect(codeOf(() => assemble(naming(sorted, ["b", "a"]), () => sorted, 1n))).toBe(
      "corrupt-content",
    );
    expect(assemble(naming(sorted, ["a", "b"]), () => sorted, 1n).inboundRules).toHaveLength(2);
  });

  it("refuses bytes that are no manifest", () => {
    expect(codeOf(() => references(Uint8Array.of(0xff)))).toBe("malformed-bytes");
  });
});

function stored(message: WorkloadPolicy) {
  const { digest, objects } = content(message);
  return {
    manifest: objects.get(digest) ?? new Uint8Array(),
    lookup: (name: string) => objects.get(name),
  };
}

function plainManifest(body: WorkloadPolicy): Uint8Array {
  const peers = (cidrs: string[]) =>
    Buffer.from(digestOf(1, toBinary(PeerSetSchema, create(PeerSetSchema, { cidrs }))), "hex");
  const ends = (endpoints: string[]) => {
    const bytes = toBinary(EndpointSetSchema, create(EndpointSetSchema, { endpoints }));
    return Buffer.from(digestOf(2, bytes), "hex");
  };
  return toBinary(
    BodyManifestSchema,
    create(BodyManifestSchema, {
      mode: body.mode,
      rules: body.inboundRules.map(({ ruleId, protocol, ports, peerCidrs }) => ({
        id: ruleId,
        protocol,
        ports,
        peers: peers(peerCidrs),
      })),
      routes: body.outboundRoutes.map(({ splits, $typeName, ...head }) => ({
        ...head,
        splits: splits.map(({ key, weight, endpoints }) => ({
          key,
          weight,
          endpoints: ends(endpoints),
        })),
      })),
    }),
  );
}

function digestOf(type: number, bytes: Uint8Array): string {
  return createHash("sha256").update(Uint8Array.of(type)).update(bytes).digest("hex");
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof RenderedError ? error.code : String(error);
  }
  return "no error";
}
