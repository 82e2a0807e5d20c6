import { fromJson, type JsonObject, type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  apply,
  canonical,
  describe,
  diff,
  equal,
  marshal,
  normalizeCidr,
  provenance,
  ruleId,
} from "@ringwall/rendered";
import {
  DeltaChangeSchema,
  PolicyDeltaSchema,
  Protocol,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import { bind, type Family } from "./family.ts";

interface OnePolicy {
  readonly policy: JsonValue;
}

const PROTOCOLS: ReadonlyMap<string, Protocol> = new Map([
  ["PROTOCOL_UNSPECIFIED", Protocol.UNSPECIFIED],
  ["PROTOCOL_TCP", Protocol.TCP],
  ["PROTOCOL_UDP", Protocol.UDP],
  ["PROTOCOL_ICMP", Protocol.ICMP],
]);

function policyOf(json: JsonValue): WorkloadPolicy | undefined {
  return json === null ? undefined : fromJson(WorkloadPolicySchema, json);
}

/** Protobuf JSON of a policy, defaults left out. */
export function policyJson(policy: WorkloadPolicy): JsonObject {
  // The JSON form of a message that is no well-known type is an object.
  return toJson(WorkloadPolicySchema, policy) as JsonObject;
}

/** A name, or a number that this build may not know. */
function protocolOf(written: string | number): Protocol {
  if (typeof written === "number") return written as Protocol; // the enum is open
  const protocol = PROTOCOLS.get(written);
  if (protocol === undefined) throw new Error(`vector names an unknown protocol ${written}`);
  return protocol;
}

function protocolText(protocol: Protocol): string {
  const found = [...PROTOCOLS].find(([, value]) => value === protocol);
  return found?.[0] ?? String(protocol);
}

/** `rendered.*`, bound to @ringwall/rendered. */
export const rendered: Family = {
  canonical: bind(({ policy }: OnePolicy) => policyJson(canonical(policyOf(policy)))),
  equal: bind(({ a, b }: { readonly a: JsonValue; readonly b: JsonValue }) =>
    equal(policyOf(a), policyOf(b)),
  ),
  diff: bind(({ from, to }: { readonly from: JsonValue; readonly to: JsonValue }) =>
    diff(policyOf(from), policyOf(to)).map((change) => toJson(DeltaChangeSchema, change)),
  ),
  apply: bind(({ base, delta }: { readonly base: JsonValue; readonly delta: JsonValue }) =>
    policyJson(apply(policyOf(base), fromJson(PolicyDeltaSchema, delta))),
  ),
  normalizeCidr: bind(({ text }: { readonly text: string }) => normalizeCidr(text)),
  ruleId: bind((input: { readonly authoredId: string; readonly protocol: string | number }) =>
    ruleId(input.authoredId, protocolOf(input.protocol)),
  ),
  provenance: bind((input: { readonly ruleId: string }) => {
    const { authoredId, protocol } = provenance(input.ruleId);
    return { authoredId, protocol: protocolText(protocol) };
  }),
  marshalHex: bind(({ policy }: OnePolicy) =>
    Buffer.from(marshal(policyOf(policy))).toString("hex"),
  ),
  describe: bind(({ change }: { readonly change: JsonValue }) =>
    describe(fromJson(DeltaChangeSchema, change)),
  ),
};
