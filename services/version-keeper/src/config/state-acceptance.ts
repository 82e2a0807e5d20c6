import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EffectFailed, readAt, streamState, type Task } from "@ringwall/actor";
import {
  type AcceptStateRequest,
  type AcceptStateResponse,
  AcceptStateResponseSchema,
  ConfigRecordSchema,
  type Inputs,
  InputsSchema,
  type OverruledCommit,
  OverruledCommitSchema,
  RenderBatchSchema,
  StatusPageSchema,
} from "@ringwall/wire";
import { ApiFailure } from "../api/api-failure.ts";
import { type KeeperContext, log } from "../context.ts";
import type { HeldWatch } from "../held/held-watch.ts";
import { append } from "../log/append.ts";
import { toHex } from "../log/hex.ts";
import { commitName, highestOf } from "../log/inputs.ts";
import type { StreamSweep } from "../log/stream-sweep.ts";
import type { ConfigLog } from "./config-log.ts";
import type { ConfigReader } from "./config-reader.ts";
import { commitInputs } from "./summaries.ts";

/** Most commits that one acceptance overrules; more need another one. */
const MOST_OVERRULED = 4_096;

/** What an acceptance works with. */
export interface AcceptanceParts {
  readonly context: KeeperContext;
  readonly reader: ConfigReader;
  readonly held: HeldWatch;
  readonly sweep: StreamSweep;
}

/**
 * Answers `config.accept`: an operator's word that the present state of the streams is the one to go
 * on from. It begins a generation above every known one, and overrules each commit that a log, a
 * checkpoint or an agent names and that CONFIG does not have.
 */
export function* acceptState(
  parts: AcceptanceParts,
  request: AcceptStateRequest,
): Task<AcceptStateResponse> {
  const { context, reader, held, sweep } = parts;
  if (request.author === "") {
    throw new ApiFailure("invalid", "the acceptance names no author");
  }
  yield* reader.catchUp();
  const config = reader.log;
  const { commits, lastSequence } = config;
  if (request.expect !== BigInt(commits.length)) {
    const message = `CONFIG has ${commits.length} commits, expected are ${request.expect}; look again before you accept`;
    throw new ApiFailure("conflict", message);
  }
  const rendered = yield* renderedInputs(sweep);
  const named = held.named().map(({ inputs }) => inputs);
  const agents = yield* agentInputs(sweep);
  named.push(...agents, ...rendered.all);
  const overruled = missingCommits(config, named).slice(0, MOST_OVERRULED);
  const isHeld =
    held.reasonAgainstCommits !== undefined ||
    (yield* isRegistryLost(parts, [...rendered.last, ...agents]));
  if (overruled.length === 0 && !isHeld) {
    const message = "nothing is to be accepted: what the records name is in CONFIG and in REGISTRY";
    throw new ApiFailure("refused", message);
  }
  const generations = named.map((inputs) => inputs.generation);
  const highest = highestOf([config.generation, ...generations]);
  const now = BigInt(Math.trunc(context.moment().wallMs));
  const value = {
    // The clock keeps two acceptances apart of which a restore took the first one away.
    generation: highestOf([highest + 1n, now]),
    overruled,
    author: request.author,
    timeUnixMs: now,
  };
  const record = create(ConfigRecordSchema, { record: { case: "acceptState", value } });
  try {
    yield* append({
      stream: "CONFIG",
      subject: context.names.configCommit,
      payload: toBinary(ConfigRecordSchema, record),
      headers: { "Rw-Type": "ConfigRecord" },
      fence: { sequence: lastSequence, write: context.nextWrite() },
    });
  } catch (error) {
    if (error instanceof EffectFailed && error.code === "fence-lost") {
      throw new ApiFailure("conflict", "CONFIG has changed meanwhile; look again");
    }
    throw error;
  }
  log(context, "warn", "a state was accepted", {
    author: request.author,
    generation: String(value.generation),
    overruled: overruled.length,
  });
  const head = config.head;
  const inputs = create(InputsSchema, head === undefined ? {} : commitInputs(config, head));
  inputs.generation = value.generation;
  return create(AcceptStateResponseSchema, { inputs });
}

function* agentInputs(sweep: StreamSweep): Task<Inputs[]> {
  const found: Inputs[] = [];
  yield* sweep.status((record) => {
    try {
      for (const { inputs } of fromBinary(StatusPageSchema, record.payload).workloads) {
        if (inputs !== undefined && inputs.commitId.length === 32) {
          found.push(inputs);
        }
      }
    } catch {
      // A page that can't be read names nothing.
    }
  });
  return found;
}

interface RenderedInputs {
  readonly all: readonly Inputs[];
  /** Those of the last batch of each partition. */
  readonly last: readonly Inputs[];
}

function* renderedInputs(sweep: StreamSweep): Task<RenderedInputs> {
  const all: Inputs[] = [];
  const last = new Map<string, Inputs>();
  yield* sweep.rendered((record) => {
    try {
      const { inputs } = fromBinary(RenderBatchSchema, record.payload);
      if (inputs !== undefined) {
        all.push(inputs);
        last.set(record.subject, inputs);
      }
    } catch {
      // A batch that can't be read names nothing.
    }
  });
  return { all, last: [...last.values()] };
}

/** True if batches or agents name a REGISTRY that is not there: a renderer is held by that alone. */
function* isRegistryLost(
  { reader, held }: AcceptanceParts,
  named: readonly Inputs[],
): Task<boolean> {
  const { lastSequence } = yield* streamState("REGISTRY");
  const looked = new Set<string>();
  for (const inputs of named) {
    const { generation, registryRevision, registryTimeUnixMs } = inputs;
    const place = `${registryRevision} ${registryTimeUnixMs}`;
    if (generation !== reader.log.generation || looked.has(place)) {
      continue;
    }
    looked.add(place);
    if (registryRevision > BigInt(lastSequence)) {
      return true;
    }
    const record =
      registryTimeUnixMs === 0n ? undefined : yield* readAt("REGISTRY", Number(registryRevision));
    const isAnother =
      record === undefined
        ? held.owners.contradict(inputs)
        : BigInt(Math.trunc(record.timeUnixMs)) !== registryTimeUnixMs;
    if (isAnother) {
      return true;
    }
  }
  return false;
}

function missingCommits(config: ConfigLog, named: readonly Inputs[]): OverruledCommit[] {
  const missing = new Map<string, OverruledCommit>();
  for (const inputs of named) {
    const name = commitName(inputs);
    const { generation, configSequence, commitId } = inputs;
    const found = config.bySequence(Number(configSequence));
    if (commitId.length === 32 && found?.id !== toHex(commitId) && !config.isOverruled(name)) {
      const commit = { generation, configSequence, commitId };
      missing.set(name, create(OverruledCommitSchema, commit));
    }
  }
  return [...missing.values()];
}
