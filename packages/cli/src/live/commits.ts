import {
  type CommitSummary,
  ListCommitsRequestSchema,
  ListCommitsResponseSchema,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { hex } from "./hex.ts";
import { accepted, type Operator } from "./operator.ts";

const PAGE = 500;

/** Lists commits, newest first, as far as the reader goes on asking. */
export async function* commitsNewestFirst(operator: Operator): AsyncGenerator<CommitSummary> {
  let beforeSequence = 0n;
  for (;;) {
    const answer = accepted(
      "config.commits",
      await operator.call("config.commits", ListCommitsRequestSchema, ListCommitsResponseSchema, {
        beforeSequence,
        limit: PAGE,
      }),
    );
    yield* answer.commits;
    const last = answer.commits.at(-1)?.inputs?.configSequence;
    if (!answer.more || last === undefined) return;
    beforeSequence = last;
  }
}

/** Id of a commit, in bytes. */
export function idOf(commit: CommitSummary): Uint8Array {
  return commit.inputs?.commitId ?? new Uint8Array();
}

/** A commit and the one before it. */
export interface FoundCommit {
  readonly commit: CommitSummary;
  readonly parent: CommitSummary | undefined;
}

const ID = /^[0-9a-f]{4,64}$/i;
const SEQUENCE = /^\d{1,15}$/;

/**
 * Finds a commit by its number or by the beginning of its id, at least four digits of it. Throws
 * CliError `usage` if there is none or more than one.
 */
export async function findCommit(operator: Operator, name: string): Promise<FoundCommit> {
  if (!ID.test(name) && !SEQUENCE.test(name)) {
    throw new CliError("usage", `"${name}" is no commit: write its number or its id`);
  }
  const found: FoundCommit[] = [];
  let younger: CommitSummary | undefined;
  const take = (commit: CommitSummary, parent: CommitSummary | undefined) => {
    const isNumber = SEQUENCE.test(name) && commit.inputs?.configSequence === BigInt(name);
    if (isNumber) found.unshift({ commit, parent });
    else if (hex(idOf(commit)).startsWith(name.toLowerCase()) && ID.test(name)) {
      found.push({ commit, parent });
    }
  };
  for await (const commit of commitsNewestFirst(operator)) {
    if (younger !== undefined) take(younger, commit);
    younger = commit;
  }
  if (younger !== undefined) take(younger, undefined);
  const [first, second] = found;
  if (first === undefined) {
    throw new CliError("usage", `there is no commit ${name}`, {
      hint: "`ringwall history` lists them",
    });
  }
  const byNumber = SEQUENCE.test(name) && first.commit.inputs?.configSequence === BigInt(name);
  if (second !== undefined && !byNumber) {
    throw new CliError("usage", `more than one commit begins with ${name}; write more of its id`);
  }
  return first;
}
