import { fromBinary } from "@bufbuild/protobuf";
import {
  type OutboundRoute,
  type PortRange,
  type ResolvedRule,
  type RouteSplit,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import type { Canonical } from "./brand.ts";
import { canonical } from "./canonical.ts";
import { RenderedError } from "./errors.ts";
import { WireWriter } from "./wire-writer.ts";

/** Field numbers of policy.proto with their wire types: 0 a varint, 2 length and bytes. */
const POLICY = { version: 0x08, mode: 0x10, rule: 0x1a, route: 0x22 };
const RULE = { id: 0x0a, peer: 0x12, protocol: 0x18, port: 0x22 };
const PORT = { start: 0x08, end: 0x10 };
const ROUTE = { outbound: 0x0a, route: 0x12, split: 0x1a, addressV4: 0x22, addressV6: 0x2a };
const SPLIT = { key: 0x0a, weight: 0x10, endpoint: 0x1a };

const writer = new WireWriter();

/**
 * The deterministic protobuf encoding of the canonical form: fields by number, unset ones left
 * out. Equal policies of one version give equal bytes, everywhere and always.
 *
 * @throws RenderedError `malformed-policy` for a number outside its wire type
 */
export function marshal(policy: WorkloadPolicy | undefined): Uint8Array<ArrayBuffer> {
  const { version, mode, inboundRules, outboundRoutes } = canonical(policy);
  writer.reset();
  if (version !== 0n) writer.uint64(POLICY.version, version);
  if (mode !== 0) writer.int32(POLICY.mode, mode);
  for (const rule of inboundRules) writeRule(rule);
  for (const route of outboundRoutes) writeRoute(route);
  return writer.take();
}

/**
 * Decodes a policy into its canonical form. Unknown fields are dropped.
 *
 * @throws RenderedError `malformed-bytes`
 */
export function unmarshal(bytes: Uint8Array): Canonical<WorkloadPolicy> {
  try {
    return canonical(fromBinary(WorkloadPolicySchema, bytes, { readUnknownFields: false }));
  } catch (cause) {
    throw new RenderedError(
      "malformed-bytes",
      `${bytes.length} bytes are not a WorkloadPolicy: ${String(cause)}`,
      { cause },
    );
  }
}

/** Writes port ranges as a repeated message field. */
export function writePorts(to: WireWriter, tag: number, ports: readonly PortRange[]): void {
  for (const { start, end } of ports) {
    const begun = to.begin(tag);
    if (start !== 0) to.uint32(PORT.start, start);
    if (end !== 0) to.uint32(PORT.end, end);
    to.end(begun);
  }
}

function writeRule(rule: ResolvedRule): void {
  const begun = writer.begin(POLICY.rule);
  if (rule.ruleId !== "") writer.text(RULE.id, rule.ruleId);
  writer.texts(RULE.peer, rule.peerCidrs);
  if (rule.protocol !== 0) writer.int32(RULE.protocol, rule.protocol);
  writePorts(writer, RULE.port, rule.ports);
  writer.end(begun);
}

function writeRoute(route: OutboundRoute): void {
  const begun = writer.begin(POLICY.route);
  if (route.outbound !== "") writer.text(ROUTE.outbound, route.outbound);
  if (route.route !== "") writer.text(ROUTE.route, route.route);
  for (const split of route.splits) writeSplit(split);
  if (route.virtualAddressV4 !== "") writer.text(ROUTE.addressV4, route.virtualAddressV4);
  if (route.virtualAddressV6 !== "") writer.text(ROUTE.addressV6, route.virtualAddressV6);
  writer.end(begun);
}

function writeSplit(split: RouteSplit): void {
  const begun = writer.begin(ROUTE.split);
  if (split.key !== "") writer.text(SPLIT.key, split.key);
  if (split.weight !== 0) writer.uint32(SPLIT.weight, split.weight);
  writer.texts(SPLIT.endpoint, split.endpoints);
  writer.end(begun);
}
