import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { bodyDigest, canonical } from "@ringwall/rendered";
import { type BodyDigest, DownSchema, HelloSchema } from "@ringwall/wire";
import { digestBytes, digestText } from "../digest.ts";
import { type PolicyRecord, REFUSED_KEPT } from "../record.ts";
import { frame, unframe } from "./frame.ts";

const POLICY_MAGIC = "RWPOLIC1";
const REFUSED_MAGIC = "RWREFUS1";

/** A policy read from a file, or why there is none in it. */
export type ReadPolicy =
  | { readonly ok: true; readonly record: PolicyRecord }
  | { readonly ok: false; readonly why: string };

/** The bytes of a policy file: the frame around the record as a Down message. */
export function encodePolicyFile(record: PolicyRecord): Uint8Array {
  const message = create(DownSchema, {
    workloadId: record.workload,
    epoch: record.epoch,
    headVersion: record.policy.version,
    digest: digestBytes(record.digest),
    body: { case: "snapshot", value: record.policy },
  });
  if (record.inputs !== undefined) {
    message.inputs = record.inputs;
  }
  return frame(POLICY_MAGIC, toBinary(DownSchema, message));
}

/** Reads a policy file; one of another workload, or whose body does not match its digest, is refused. */
export function decodePolicyFile(workload: string, bytes: Uint8Array): ReadPolicy {
  const framed = unframe(POLICY_MAGIC, bytes);
  if (!framed.ok) {
    return framed;
  }
  try {
    const message = fromBinary(DownSchema, framed.payload);
    if (message.workloadId !== workload) {
      return { ok: false, why: `it belongs to workload "${message.workloadId}"` };
    }
    if (message.body.case !== "snapshot") {
      return { ok: false, why: "it holds no policy" };
    }
    const policy = canonical(message.body.value);
    const digest = bodyDigest(policy);
    if (digest !== digestText(message.digest)) {
      return { ok: false, why: "its body does not match its digest" };
    }
    return {
      ok: true,
      record: { workload, epoch: message.epoch, digest, inputs: message.inputs, policy },
    };
  } catch (thrown) {
    return { ok: false, why: `it can't be read: ${String(thrown)}` };
  }
}

/** The bytes of the file of refused bodies. */
export function encodeRefusedFile(refused: readonly BodyDigest[]): Uint8Array {
  const message = create(HelloSchema, { refusedDigests: refused.map(digestBytes) });
  return frame(REFUSED_MAGIC, toBinary(HelloSchema, message));
}

/** Reads the file of refused bodies; undefined with the reason told if it is damaged. */
export function decodeRefusedFile(bytes: Uint8Array): readonly BodyDigest[] | { why: string } {
  const framed = unframe(REFUSED_MAGIC, bytes);
  if (!framed.ok) {
    return { why: framed.why };
  }
  try {
    const digests = fromBinary(HelloSchema, framed.payload).refusedDigests.map(digestText);
    return digests.filter((digest) => digest !== undefined).slice(-REFUSED_KEPT);
  } catch (thrown) {
    return { why: `it can't be read: ${String(thrown)}` };
  }
}
