import { MODES } from "../../full/render-steps.ts";
import type { PortSpan } from "../../ports.ts";
import type { Decision } from "../routes/decisions.ts";
import { idSuffix, type PlannedRule } from "../rules/ruleset.ts";
import type { ByteWriter } from "../store/byte-writer.ts";
import type { Moment } from "../store/text-sets.ts";
import type { PolicyClass } from "./policy-class.ts";
import type { BodySets } from "./sizes.ts";

/** Field numbers of content.proto with their wire types. */
const BODY = { mode: 0x08, rule: 0x12, route: 0x1a };
const RULE = { id: 0x0a, protocol: 0x10, port: 0x1a, peers: 0x22 };
const ROUTE = { outbound: 0x0a, route: 0x12, addressV4: 0x1a, addressV6: 0x22, split: 0x2a };
const SPLIT = { key: 0x0a, weight: 0x10, endpoints: 0x1a };
/** Bytes of a field that holds a digest. */
const DIGEST_FIELD_BYTES = 2 + 32;
const PORT = { start: 0x08, end: 0x10 };

const WRITTEN_ONCE = new Uint8Array();

/** Writes the BodyManifest of a class as it is now or was before the present flush. */
export function writeManifest(
  { list, mode, routes }: PolicyClass,
  moment: Moment,
  sets: BodySets,
  writer: ByteWriter,
): void {
  writer.number(BODY.mode, MODES[mode.mode]);
  for (const rule of list.rules) {
    writeRule(rule, sets.peers.digest(rule.source, moment), writer);
  }
  for (const decision of routes.decisions) {
    writeRoute(decision, moment, sets, writer);
  }
}

/** Writes ranges of ports as a repeated message field. */
export function writePorts(tag: number, ports: readonly PortSpan[], writer: ByteWriter): void {
  for (const { start, end } of ports) {
    const begun = writer.begin(tag);
    if (start !== 0) {
      writer.number(PORT.start, start);
    }
    if (end !== 0) {
      writer.number(PORT.end, end);
    }
    writer.end(begun);
  }
}

/** Most rules are written once: what is kept of one is kept when it is written for the second time. */
function writeRule(rule: PlannedRule, peers: string, writer: ByteWriter): void {
  if (rule.encoded !== undefined && rule.encoded.length > 0) {
    writer.fields(rule.encoded);
    writer.binary(RULE.peers, peers);
    return;
  }
  const start = writer.length;
  const begun = writer.begin(BODY.rule);
  writer.texts(RULE.id, rule.authored, idSuffix(rule.protocol));
  writer.number(RULE.protocol, rule.protocol);
  writePorts(RULE.port, rule.ports, writer);
  writer.binary(RULE.peers, peers);
  writer.end(begun);
  rule.encoded =
    rule.encoded === undefined
      ? WRITTEN_ONCE
      : writer.copyFrom(start, writer.length - DIGEST_FIELD_BYTES);
}

function writeRoute(decision: Decision, moment: Moment, sets: BodySets, writer: ByteWriter): void {
  if (moment === "before") {
    encodeRoute(decision, moment, sets, writer);
  } else if (decision.encoded === undefined) {
    const start = writer.length;
    encodeRoute(decision, moment, sets, writer);
    decision.encoded = writer.copyFrom(start);
  } else {
    writer.fields(decision.encoded);
  }
}

function encodeRoute(decision: Decision, moment: Moment, sets: BodySets, writer: ByteWriter): void {
  const { outbound, provenance, splits } = decision;
  const { v4, v6 } = moment === "now" ? decision.shown : decision.shownBefore;
  const begun = writer.begin(BODY.route);
  writeText(ROUTE.outbound, outbound, writer);
  writeText(ROUTE.route, provenance, writer);
  writeText(ROUTE.addressV4, v4, writer);
  writeText(ROUTE.addressV6, v6, writer);
  for (const { key, weight, bucket } of splits) {
    const inner = writer.begin(ROUTE.split);
    writeText(SPLIT.key, key, writer);
    writer.number(SPLIT.weight, weight);
    writer.binary(SPLIT.endpoints, sets.endpoints.digest(bucket.set, moment));
    writer.end(inner);
  }
  writer.end(begun);
}

/** An empty text adds no bytes. */
function writeText(tag: number, text: string, writer: ByteWriter): void {
  if (text !== "") {
    writer.text(tag, text);
  }
}
