import { Buffer } from "node:buffer";
import { fromBinary } from "@bufbuild/protobuf";
import {
  type BodyManifest,
  BodyManifestSchema,
  EndpointSetSchema,
  type OutboundRoute,
  PeerSetSchema,
  type ResolvedRule,
  type WorkloadPolicy,
} from "@ringwall/wire";
import type { Canonical, SetKind } from "./brand.ts";
import { canonical } from "./canonical.ts";
import {
  bodyDigest,
  bodyObject,
  bytesOfSet,
  CONTENT_TYPES,
  digestOfBytes,
  digestOfSet,
} from "./digest.ts";
import { RenderedError } from "./errors.ts";
import { endpointSet, peerSet } from "./sets.ts";

/** A body as CONTENT stores it. */
export interface Content {
  /** Digest of the body, which is that of its manifest. */
  readonly digest: string;
  /** The manifest and every set that it names, by digest in hex. */
  readonly objects: Map<string, Uint8Array>;
}

/** Finds the bytes of a content object by its digest in hex. */
export type ContentLookup = (digest: string) => Uint8Array | undefined;

interface DecodedSet {
  readonly kind: SetKind;
  readonly digest: string;
  readonly texts: Canonical<string[]>;
}

/** Sets by the very bytes they were read from, so that bodies share what their content shares. */
const decodedSets = new WeakMap<Uint8Array, DecodedSet>();

/**
 * The content objects of a policy's body. Objects that `isStored` knows are left out, so that a
 * writer encodes only what it has to put; by default all are given.
 */
export function content(
  policy: WorkloadPolicy | undefined,
  isStored: (digest: string) => boolean = () => false,
): Content {
  const body = canonical(policy);
  const objects = new Map<string, Uint8Array>();
  const addSet = (texts: readonly string[], kind: SetKind) => {
    const digest = digestOfSet(texts, kind);
    if (!objects.has(digest) && !isStored(digest)) objects.set(digest, bytesOfSet(texts));
  };
  for (const rule of body.inboundRules) addSet(rule.peerCidrs, "peers");
  for (const route of body.outboundRoutes) {
    for (const split of route.splits) addSet(split.endpoints, "endpoints");
  }
  const digest = bodyDigest(body);
  if (!isStored(digest)) objects.set(digest, bodyObject(body).bytes);
  return { digest, objects };
}

/**
 * Digests in hex of the sets that a BodyManifest names, each once, in order of appearance.
 *
 * @throws RenderedError `malformed-bytes`
 */
export function references(manifestBytes: Uint8Array): string[] {
  const manifest = decodeManifest(manifestBytes);
  const digests = manifest.rules.map((rule) => hex(rule.peers));
  for (const route of manifest.routes) {
    for (const split of route.splits) digests.push(hex(split.endpoints));
  }
  return [...new Set(digests)];
}

/**
 * Puts a policy together from its BodyManifest and the sets that it names. Every set is checked
 * against its digest. Bytes that `lookup` gives must not change afterwards: the set read from them
 * is remembered with them, so that policies assembled from the same bytes share it.
 *
 * @throws RenderedError `missing-content` naming the digest that `lookup` does not find,
 * `corrupt-content` if a set is not what its digest says or anything is not canonical,
 * `malformed-bytes` if the manifest is none
 */
export function assemble(
  manifestBytes: Uint8Array,
  lookup: ContentLookup,
  version: bigint,
): Canonical<WorkloadPolicy> {
  const manifest = decodeManifest(manifestBytes);
  const policy = canonical({
    $typeName: "ringwall.v1.WorkloadPolicy",
    version,
    mode: manifest.mode,
    inboundRules: manifest.rules.map(
      (rule): ResolvedRule => ({
        $typeName: "ringwall.v1.ResolvedRule",
        ruleId: rule.id,
        peerCidrs: readSet(hex(rule.peers), "peers", lookup),
        protocol: rule.protocol,
        ports: rule.ports,
      }),
    ),
    outboundRoutes: manifest.routes.map(
      (route): OutboundRoute => ({
        $typeName: "ringwall.v1.OutboundRoute",
        outbound: route.outbound,
        route: route.route,
        splits: route.splits.map((split) => ({
          $typeName: "ringwall.v1.RouteSplit",
          key: split.key,
          weight: split.weight,
          endpoints: readSet(hex(split.endpoints), "endpoints", lookup),
        })),
        virtualAddressV4: route.virtualAddressV4,
        virtualAddressV6: route.virtualAddressV6,
      }),
    ),
  });
  const wanted = digestOfBytes(CONTENT_TYPES.body, manifestBytes);
  if (bodyDigest(policy) !== wanted) {
    throw new RenderedError(
      "corrupt-content",
      `body ${wanted} is not canonical: its policy has digest ${bodyDigest(policy)}`,
    );
  }
  return policy;
}

function readSet(digest: string, kind: SetKind, lookup: ContentLookup): Canonical<string[]> {
  const bytes = lookup(digest);
  if (bytes === undefined) {
    throw new RenderedError("missing-content", `content object ${digest} (${kind}) is missing`);
  }
  const known = decodedSets.get(bytes);
  if (known?.digest === digest && known.kind === kind) return known.texts;
  const actual = digestOfBytes(CONTENT_TYPES[kind], bytes);
  if (actual !== digest) {
    throw new RenderedError(
      "corrupt-content",
      `content object ${digest} (${kind}) has digest ${actual}: fetch it again`,
    );
  }
  const texts =
    kind === "peers" ? peerSet(decodePeers(bytes)) : endpointSet(decodeEndpoints(bytes));
  // A list that was not canonical, or bytes with anything besides it, give another digest here.
  if (digestOfSet(texts, kind) !== digest) {
    throw new RenderedError("corrupt-content", `content object ${digest} (${kind}) not canonical`);
  }
  decodedSets.set(bytes, { kind, digest, texts });
  return texts;
}

const decodeManifest = (bytes: Uint8Array): BodyManifest =>
  decoded("BodyManifest", bytes, () => fromBinary(BodyManifestSchema, bytes));

const decodePeers = (bytes: Uint8Array): string[] =>
  decoded("PeerSet", bytes, () => fromBinary(PeerSetSchema, bytes).cidrs);

const decodeEndpoints = (bytes: Uint8Array): string[] =>
  decoded("EndpointSet", bytes, () => fromBinary(EndpointSetSchema, bytes).endpoints);

function decoded<T>(type: string, bytes: Uint8Array, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new RenderedError(
      "malformed-bytes",
      `${bytes.length} bytes are not a ${type}: ${String(cause)}`,
      { cause },
    );
  }
}

function hex(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString("hex");
}
