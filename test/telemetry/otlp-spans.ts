import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** A span as it came over the wire. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly startUnixMs: number;
  readonly endUnixMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** Span ids that it links to. */
  readonly links: readonly string[];
  readonly failed: boolean;
}

type Value = string | number | boolean;

/** Reads the body of an OTLP/HTTP trace export (protobuf, opentelemetry-proto 1.x). */
export function readSpans(body: Uint8Array): ReceivedSpan[] {
  const spans: ReceivedSpan[] = [];
  for (const resourceSpans of messages(body, 1)) {
    const [resource = new Uint8Array()] = messages(resourceSpans, 1);
    const service = String(attributesOf(resource, 1)["service.name"] ?? "");
    for (const scopeSpans of messages(resourceSpans, 2)) {
      for (const span of messages(scopeSpans, 2)) spans.push(readSpan(span, service));
    }
  }
  return spans;
}

function readSpan(bytes: Uint8Array, service: string): ReceivedSpan {
  const text = (field: number) => Buffer.from(messages(bytes, field)[0] ?? []);
  const [status = new Uint8Array()] = messages(bytes, 15);
  return {
    service,
    name: text(5).toString("utf8"),
    traceId: text(1).toString("hex"),
    spanId: text(2).toString("hex"),
    parentId: text(4).toString("hex"),
    startUnixMs: fixed(bytes, 7),
    endUnixMs: fixed(bytes, 8),
    attributes: attributesOf(bytes, 9),
    links: messages(bytes, 13).map((link) =>
      Buffer.from(messages(link, 2)[0] ?? []).toString("hex"),
    ),
    failed: number(status, 3) === 2,
  };
}

/** The length-delimited values of a field. */
function messages(bytes: Uint8Array, field: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  walk(bytes, (number_, wire, reader) => {
    if (number_ !== field || wire !== WireType.LengthDelimited) return false;
    found.push(reader.bytes());
    return true;
  });
  return found;
}

function fixed(bytes: Uint8Array, field: number): number {
  let value = 0n;
  walk(bytes, (number_, wire, reader) => {
    if (number_ !== field || wire !== WireType.Bit64) return false;
    value = BigInt(reader.fixed64());
    return true;
  });
  return Number(value) / 1e6;
}

function number(bytes: Uint8Array, field: number): number {
  let value = 0;
  walk(bytes, (number_, wire, reader) => {
    if (number_ !== field || wire !== WireType.Varint) return false;
    value = Number(reader.int64());
    return true;
  });
  return value;
}

function attributesOf(bytes: Uint8Array, field: number): Record<string, Value> {
  const attributes: Record<string, Value> = {};
  for (const pair of messages(bytes, field)) {
    const [key = new Uint8Array()] = messages(pair, 1);
    const [value = new Uint8Array()] = messages(pair, 2);
    attributes[Buffer.from(key).toString("utf8")] = readValue(value);
  }
  return attributes;
}

function readValue(bytes: Uint8Array): Value {
  let value: Value = "";
  walk(bytes, (field, wire, reader) => {
    if (field === 1 && wire === WireType.LengthDelimited) value = reader.string();
    else if (field === 2 && wire === WireType.Varint) value = reader.bool();
    else if (field === 3 && wire === WireType.Varint) value = Number(reader.int64());
    else if (field === 4 && wire === WireType.Bit64) value = reader.double();
    else return false;
    return true;
  });
  return value;
}

/** Visits the fields of a message; a field that is not taken is skipped. */
function walk(
  bytes: Uint8Array,
  take: (field: number, wire: WireType, reader: BinaryReader) => boolean,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (!take(field, wire, reader)) reader.skip(wire);
  }
}
