import type { CommitAccepted } from "@ringwall/wire";
import { CliError, type FindingLine } from "../errors.ts";
import {
  type Change,
  type CommitOutcome,
  conflictError,
  submit,
  wireFindings,
} from "../live/commit.ts";
import { DEFAULT_WAIT_SECONDS, waitConverged } from "../live/convergence.ts";
import { hex, shortHex } from "../live/hex.ts";
import { count } from "../output/count.ts";
import { findingLines } from "../output/findings.ts";
import type { Session } from "../session.ts";

/** Names the local file of a live `<layer>/<path>`. */
export type Locate = (
  file: string,
) => { readonly file: string; readonly lineOffset: number } | undefined;

/** A commit that stands. */
export interface Committed {
  readonly commit: CommitAccepted;
  readonly warnings: readonly FindingLine[];
}

/** Submits a change; a conflict or a refusal ends the command. */
export async function commitOrFail(
  session: Session,
  change: Change,
  locate: Locate = () => undefined,
): Promise<Committed> {
  const outcome = await submit(await session.operator(), change);
  return settle(outcome, locate);
}

/** Turns what is no success into the error that says so. */
export function settle(outcome: CommitOutcome, locate: Locate): Committed {
  switch (outcome.kind) {
    case "accepted":
      return { commit: outcome.commit, warnings: wireFindings(outcome.warnings, locate) };
    case "conflict":
      throw conflictError(outcome.head);
    case "rejected": {
      const findings = wireFindings(outcome.findings, locate);
      throw new CliError("invalid", `refused: ${countFindings(findings)}; nothing was written`, {
        findings,
      });
    }
  }
}

/** "2 errors", "1 error and 3 warnings". */
export function countFindings(findings: readonly FindingLine[]): string {
  const warnings = findings.filter((finding) => finding.warning).length;
  const errors = findings.length - warnings;
  return warnings === 0
    ? count(errors, "error")
    : `${count(errors, "error")} and ${count(warnings, "warning")}`;
}

/** A commit in the JSON form. */
export function commitJson(commit: CommitAccepted) {
  return {
    id: hex(commit.inputs?.commitId ?? new Uint8Array()),
    sequence: commit.inputs?.configSequence ?? 0n,
    generation: commit.inputs?.generation ?? 0n,
  };
}

/** A commit as people name it. */
export function commitText(commit: CommitAccepted): string {
  const { inputs } = commit;
  return inputs === undefined
    ? "commit"
    : `commit ${inputs.configSequence} (${shortHex(inputs.commitId)})`;
}

/** Shows warnings to people; the JSON form carries them in the document. */
export function showWarnings(session: Session, warnings: readonly FindingLine[]): void {
  if (session.out.json) return;
  for (const line of findingLines(warnings, session.out.paint)) session.out.note(line);
}

/** Waits if `--wait` was given; gives what the JSON form says about it. */
export async function waitIfAsked(
  session: Session,
  commit: CommitAccepted,
  wait: number | true | undefined,
): Promise<{ agents: number; seconds: number } | undefined> {
  if (wait === undefined) return undefined;
  const seconds = wait === true ? DEFAULT_WAIT_SECONDS : wait;
  const started = performance.now();
  const operator = await session.operator();
  const sequence = commit.inputs?.configSequence ?? 0n;
  const state = await waitConverged(operator, sequence, seconds, session.interrupted);
  return { agents: state.acked, seconds: Math.round(performance.now() - started) / 1_000 };
}
