import { create } from "@bufbuild/protobuf";
import { readAt, type Task } from "@ringwall/actor";
import { partitionOf } from "@ringwall/bus";
import { marshal } from "@ringwall/rendered";
import {
  type GetPolicyRequest,
  type GetPolicyResponse,
  GetPolicyResponseSchema,
  type Inputs,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import type { ContentStore } from "../content/content-store.ts";
import { fromHex } from "../log/hex.ts";
import { PART_BYTES } from "../log/parts.ts";
import type { VersionLog } from "../versions/version-log.ts";
import { type PastVersion, pastVersion } from "./past-version.ts";

interface Wanted {
  readonly workload: string;
  readonly version: number;
  readonly digest: string;
  readonly inputs: Inputs | undefined;
  readonly epoch: bigint;
}

/** Answers `policy.get`: the head, or a version that the log still holds. */
export class PolicyReading {
  readonly #versions: VersionLog;
  readonly #content: ContentStore;
  /** The long policy that was read last: its parts are asked for one after the other. */
  #long: { readonly key: string; readonly bytes: Uint8Array } | undefined;

  constructor(versions: VersionLog, content: ContentStore) {
    this.#versions = versions;
    this.#content = content;
  }

  /** Answers the operation; throws ApiFailure and EffectFailed. */
  *get(request: GetPolicyRequest): Task<GetPolicyResponse> {
    const wanted = yield* this.#find(request);
    const { workload, version, digest, inputs, epoch } = wanted;
    const response = create(GetPolicyResponseSchema, { epoch, digest: fromHex(digest) });
    if (inputs !== undefined) {
      response.inputs = inputs;
    }
    const key = `${digest}:${version}`;
    let bytes = this.#long?.key === key ? this.#long.bytes : undefined;
    if (bytes === undefined) {
      const reading = yield* this.#content.policy(digest, version, true);
      if (!reading.ok) {
        const code = request.version === 0n ? "unavailable" : "not_found";
        const message = `content of ${workload} version ${version} is no longer kept: ${reading.missing[0]}`;
        throw new ApiFailure(code, message);
      }
      bytes = marshal(reading.policy);
      if (bytes.length <= PART_BYTES) {
        response.policy = reading.policy;
        return response;
      }
      this.#long = { key, bytes };
    }
    const count = Math.ceil(bytes.length / PART_BYTES);
    if (request.part >= count) {
      throw new ApiFailure(
        "invalid",
        `the policy has ${count} parts, asked is for ${request.part}`,
      );
    }
    response.count = count;
    response.data = bytes.slice(request.part * PART_BYTES, (request.part + 1) * PART_BYTES);
    return response;
  }

  *#find(request: GetPolicyRequest): Task<Wanted> {
    const { workload } = request;
    const log = this.#versions.partition(partitionOf(workload));
    const head = log.heads.get(workload);
    if (head === undefined) {
      throw new ApiFailure("not_found", `workload ${workload} has no version`);
    }
    const version = Number(request.version) || head.version;
    if (version !== head.version) {
      const past = yield* this.#past(workload, version);
      if (past === undefined || past.digest === "") {
        const message = `version ${version} of ${workload} is not in the log; its head is ${head.version}`;
        throw new ApiFailure("not_found", message);
      }
      return { workload, ...past };
    }
    if (head.digest === "") {
      const message = `workload ${workload} was removed at version ${head.version}`;
      throw new ApiFailure("not_found", message);
    }
    const { inputs, epoch } = log;
    return { workload, version, digest: head.digest, inputs, epoch };
  }

  *#past(workload: string, version: number): Task<PastVersion | undefined> {
    const log = this.#versions.partition(partitionOf(workload));
    for (const sequence of log.history.newestFirst(workload)) {
      const record = yield* readAt("VERSIONS", sequence);
      const past = record === undefined ? undefined : pastVersion(record, workload);
      if (past !== undefined && past.version <= version) {
        return past.version === version ? past : undefined;
      }
    }
    return undefined;
  }
}
