import { hash } from "node:crypto";
import type { BodyDigest, OutboundRoute, ResolvedRule, WorkloadPolicy } from "@ringwall/wire";
import {
  messageDigest,
  rememberMessageDigest,
  rememberSetDigest,
  type SetKind,
  setDigest,
} from "./brand.ts";
import { canonical } from "./canonical.ts";
import { writePorts } from "./marshal.ts";
import { WireWriter } from "./wire-writer.ts";

/** The byte that a content object is hashed with, so that no two kinds share a digest. */
export const CONTENT_TYPES = { peers: 1, endpoints: 2, body: 3 } as const;

/** A content object: its digest in hex and the bytes that CONTENT stores. */
export interface ContentObject {
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Field numbers of content.proto with their wire types. */
const SET = { text: 0x0a };
const BODY = { mode: 0x08, rule: 0x12, route: 0x1a };
const RULE = { id: 0x0a, protocol: 0x10, port: 0x1a, peers: 0x22 };
const ROUTE = { outbound: 0x0a, route: 0x12, addressV4: 0x1a, addressV6: 0x22, split: 0x2a };
const SPLIT = { key: 0x0a, weight: 0x10, endpoints: 0x1a };

/** A manifest asks for the digests of its sets while it is being written: hence two writers. */
const writer = new WireWriter();
const setWriter = new WireWriter();

/**
 * Digest of a policy's body, that is of everything but its version: SHA-256 in hex over the type
 * byte and the bytes of its BodyManifest. Digests are remembered with canonical policies and with
 * their sets, so after a change of one peer only one set and the manifest are hashed.
 */
export function bodyDigest(policy: WorkloadPolicy | undefined): BodyDigest {
  const body = canonical(policy);
  const known = messageDigest(body);
  // Only body digests are remembered with policies.
  if (known !== undefined) return known as BodyDigest;
  const digest = hashWritten(writer, CONTENT_TYPES.body, () => writeManifest(body));
  rememberMessageDigest(body, digest);
  // Hashed from a body just now.
  return digest as BodyDigest;
}

/** The BodyManifest of a canonical policy. */
export function bodyObject(body: WorkloadPolicy): ContentObject {
  const digest = bodyDigest(body);
  writer.reset();
  writeManifest(body);
  return { digest, bytes: writer.take() };
}

/** Digest of a canonical set as PeerSet or EndpointSet. */
export function digestOfSet(texts: readonly string[], kind: SetKind): string {
  const known = setDigest(texts);
  if (known !== undefined) return known;
  const digest = hashWritten(setWriter, CONTENT_TYPES[kind], () =>
    setWriter.texts(SET.text, texts),
  );
  rememberSetDigest(texts, digest);
  return digest;
}

/** Bytes of a canonical set as PeerSet or EndpointSet. */
export function bytesOfSet(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  setWriter.reset();
  setWriter.texts(SET.text, texts);
  return setWriter.take();
}

/** Digest of a content object's bytes. */
export function digestOfBytes(type: number, bytes: Uint8Array): string {
  const typed = new Uint8Array(1 + bytes.length);
  typed[0] = type;
  typed.set(bytes, 1);
  return hash("sha256", typed, "hex");
}

function hashWritten(to: WireWriter, type: number, write: () => void): string {
  to.reset();
  to.byte(type);
  write();
  const digest = hash("sha256", to.view(), "hex");
  to.reset();
  return digest;
}

function writeManifest(body: WorkloadPolicy): void {
  if (body.mode !== 0) writer.int32(BODY.mode, body.mode);
  for (const rule of body.inboundRules) writeRule(rule);
  for (const route of body.outboundRoutes) writeRoute(route);
}

function writeRule(rule: ResolvedRule): void {
  const begun = writer.begin(BODY.rule);
  if (rule.ruleId !== "") writer.text(RULE.id, rule.ruleId);
  if (rule.protocol !== 0) writer.int32(RULE.protocol, rule.protocol);
  writePorts(writer, RULE.port, rule.ports);
  writer.hex(RULE.peers, digestOfSet(rule.peerCidrs, "peers"));
  writer.end(begun);
}

function writeRoute(route: OutboundRoute): void {
  const begun = writer.begin(BODY.route);
  if (route.outbound !== "") writer.text(ROUTE.outbound, route.outbound);
  if (route.route !== "") writer.text(ROUTE.route, route.route);
  if (route.virtualAddressV4 !== "") writer.text(ROUTE.addressV4, route.virtualAddressV4);
  if (route.virtualAddressV6 !== "") writer.text(ROUTE.addressV6, route.virtualAddressV6);
  for (const split of route.splits) {
    const inner = writer.begin(ROUTE.split);
    if (split.key !== "") writer.text(SPLIT.key, split.key);
    if (split.weight !== 0) writer.uint32(SPLIT.weight, split.weight);
    writer.hex(SPLIT.endpoints, digestOfSet(split.endpoints, "endpoints"));
    writer.end(inner);
  }
  writer.end(begun);
}
