import { settle } from "../commands/commit-result.ts";
import { CliError } from "../errors.ts";
import { filesOfRepo } from "../input/find-files.ts";
import { readSources } from "../input/read-sources.ts";
import { submit } from "../live/commit.ts";
import type { Operator } from "../live/operator.ts";
import { readLiveTree } from "../live/tree.ts";

/** Commits the example into an empty configuration and gives the number of its documents. */
export async function commitExample(
  operator: Operator,
  directory: string,
  environment: string,
): Promise<number> {
  const base = await readLiveTree(operator);
  const files = await filesOfRepo(directory, environment);
  const sources = readSources(files, { layer: "core", environment });
  if (sources.findings.some((finding) => !finding.warning)) {
    throw new CliError("invalid", `${directory} can't be applied`, { findings: sources.findings });
  }
  const outcome = await submit(operator, {
    base,
    puts: sources.puts,
    removals: [],
    author: "ringwall dev",
    message: "the example estate",
    environment,
    dryRun: false,
  });
  settle(outcome, (file) => sources.origins.get(file));
  return sources.puts.length;
}
