import { DeclaredError, type DeclaredErrorCode, type Finding } from "@ringwall/declared";
import { CliError, type CliErrorCode, type FindingLine } from "../errors.ts";

const EXIT_OF: Readonly<Record<DeclaredErrorCode, CliErrorCode>> = {
  deploy_tree_invalid: "invalid",
  manifest: "invalid",
  target: "invalid",
  json: "invalid",
  rounds: "invalid",
  ledger: "refused",
  changed: "refused",
  transport: "transport",
};

const HINT_OF: Partial<Record<DeclaredErrorCode, string>> = {
  ledger: "the ledger says what may be deleted; restore it, or pull and apply again",
  changed: "plan again, then apply what it says now",
};

/** Runs `work` and turns what is wrong with a declared tree into what the command ends with. */
export async function asCliError<Result>(
  folder: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeclaredError)) throw error;
    const hint = HINT_OF[error.code];
    throw new CliError(EXIT_OF[error.code], error.message, {
      ...(hint === undefined ? {} : { hint }),
      ...(error.findings.length === 0
        ? {}
        : { findings: error.findings.map((finding) => findingLine(folder, finding)) }),
    });
  }
}

/** A finding of a declared tree as people read it; `folder` stands before its path. */
export function findingLine(folder: string, finding: Finding): FindingLine {
  return {
    file: finding.path.startsWith("targets/") ? finding.path : `${folder}${finding.path}`,
    line: finding.line ?? 0,
    path: "",
    rule: finding.code,
    message: finding.message,
    warning: false,
  };
}
