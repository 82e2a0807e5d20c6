import { isSame } from "@ringwall/declared";
import { Command } from "commander";
import { readDeclaredRepo } from "../declared/declared-repo.ts";
import { makePlan, type Planned } from "../declared/make-plan.ts";
import { addRepoOptions, chosenProfile, type RepoOptions } from "../declared/options.ts";
import { CliError } from "../errors.ts";
import { harmless } from "../output/paint.ts";
import { type CommandContext, withSession } from "../session.ts";
import { showWarnings } from "./commit-result.ts";

/** `ringwall verify`: is live exactly what is declared, and does the ledger say so? */
export function verifyCommand(context: CommandContext): Command {
  const command = new Command("verify")
    .summary("hold the live side against a declared repo, byte by byte")
    .description(
      "Reads every live file that the repo declares, checks its digest, and holds the ledger " +
        "against both sides.\nEnds with code 6 and what is wrong unless everything agrees.",
    );
  return addRepoOptions(command).action((options: RepoOptions, invoked: Command) =>
    withSession(context, invoked, async (session) => {
      const chosen = chosenProfile(options);
      const repo = await readDeclaredRepo(session, chosen.profile, options);
      showWarnings(session, repo.warnings);
      const planned = await makePlan(session, chosen, repo, {});
      const problems = problemsOf(planned);
      const { plan, reading } = planned;
      const verified = plan.entries.filter(({ status }) => status === "same").length;
      const document = {
        gateway: repo.target.gateway,
        environment: repo.target.environment,
        live: reading.name,
        units: verified,
        problems,
        renderSha256: repo.rendered.renderSha256,
      };
      if (problems.length > 0) {
        throw new CliError(
          "refused",
          `the live side is not what is declared: ${problems.length} problems`,
          {
            hint: "`ringwall plan --diff` shows the differences",
            lines: problems.map(harmless),
            data: document,
          },
        );
      }
      session.out.result(document, () => [
        `${verified} units of ${reading.name} are as declared, render ${repo.rendered.renderSha256}`,
      ]);
    }),
  );
}

function problemsOf({ repo, reading, plan, ownedOutOfScope }: Planned): string[] {
  const problems = plan.entries.flatMap(({ key, status, files }) => {
    if (status === "same" || status === "unmanaged") return [];
    const places = files.filter((file) => !isSame(file)).map(({ path }) => path);
    return [`${key} is ${status}: ${places.join(", ")}`];
  });
  const { ledger } = reading;
  if (ledger === undefined) return [...problems, "there is no ledger: nothing was applied yet"];
  if (problems.length > 0) return problems;
  if (ledger.renderSha256 !== repo.rendered.renderSha256) {
    problems.push(`the ledger is of render ${ledger.renderSha256}`);
  }
  const owned = new Set([...plan.owned, ...ownedOutOfScope]);
  const listed = new Set(ledger.files);
  for (const path of owned) if (!listed.has(path)) problems.push(`${path} is not in the ledger`);
  for (const path of listed) if (!owned.has(path)) problems.push(`${path} is in the ledger only`);
  return problems;
}
