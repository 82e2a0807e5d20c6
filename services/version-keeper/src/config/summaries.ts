import { create } from "@bufbuild/protobuf";
import { type CommitSummary, CommitSummarySchema, type Inputs, InputsSchema } from "@ringwall/wire";
import { fromHex } from "../log/hex.ts";
import type { CommitEntry, ConfigLog } from "./config-log.ts";

/** What names a commit; the head is named in the present generation. */
export function commitInputs(log: ConfigLog, commit: CommitEntry): Inputs {
  return create(InputsSchema, {
    generation: commit === log.head ? log.generation : commit.generation,
    configSequence: BigInt(commit.sequence),
    commitId: fromHex(commit.id),
  });
}

/** A commit without its lists. */
export function commitSummary(log: ConfigLog, commit: CommitEntry): CommitSummary {
  return create(CommitSummarySchema, {
    inputs: commitInputs(log, commit),
    author: commit.author,
    message: commit.message,
    timeUnixMs: commit.timeUnixMs,
    puts: commit.change.puts.length,
    deletes: commit.change.deletes.length,
  });
}
