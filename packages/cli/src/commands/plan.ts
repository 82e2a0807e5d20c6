import { Command } from "commander";
import { readDeclaredRepo } from "../declared/declared-repo.ts";
import { makePlan, type Planned } from "../declared/make-plan.ts";
import { addRepoOptions, chosenProfile, type RepoOptions } from "../declared/options.ts";
import { countsText, driftLines, planJson, planLines, scopeLines } from "../declared/plan-view.ts";
import { ExitStatus } from "../errors.ts";
import type { Out } from "../output/out.ts";
import { type CommandContext, withSession } from "../session.ts";
import { showWarnings } from "./commit-result.ts";

interface PlanCommandOptions extends RepoOptions {
  readonly base?: string;
  readonly diff?: boolean;
  readonly check?: boolean;
}

/** Exit code of `--check` when the sides differ. */
const DIFFERENT = 1;

/** `ringwall plan`: what applying a declared repo would do. */
export function planCommand(context: CommandContext): Command {
  const command = new Command("plan")
    .summary("show what applying a declared repo would change")
    .description(
      "Compares a declared repo with the live side, unit by unit, and says for every changed file " +
        "what differs.\nNothing is written. Units that nobody declared are listed and never touched.",
    );
  return addRepoOptions(command)
    .option("--base <path>", "repo that was applied last, to measure drift from")
    .option("--diff", "also show the differences, secrets replaced")
    .option("--check", "end with code 1 if there is a change or drift")
    .action((options: PlanCommandOptions, invoked: Command) =>
      withSession(context, invoked, async (session) => {
        const chosen = chosenProfile(options);
        const repo = await readDeclaredRepo(session, chosen.profile, options);
        showWarnings(session, repo.warnings);
        const planned = await makePlan(session, chosen, repo, options);
        session.out.result(documentOf(planned, options), () =>
          linesOf(planned, session.out, options),
        );
        const { hasChanges, drift } = planned.plan;
        if (options.check === true && (hasChanges || drift.length > 0)) {
          throw new ExitStatus(DIFFERENT);
        }
      }),
    );
}

/** A plan with its circumstances, as JSON. */
export function documentOf(planned: Planned, options: { readonly diff?: boolean }) {
  const { repo, reading, plan, scope, ownedOutOfScope } = planned;
  return {
    gateway: repo.target.gateway,
    environment: repo.target.environment,
    profile: repo.profile.name,
    live: reading.name,
    renderSha256: repo.rendered.renderSha256,
    ...planJson(repo.profile, plan, options),
    notInScope: scope.notInScope,
    excludedProviders: scope.excludedProviders,
    ownedOutOfScope,
    warnings: repo.warnings,
  };
}

/** A plan with its circumstances, for people. */
export function linesOf(
  planned: Planned,
  out: Out,
  options: { readonly diff?: boolean },
): string[] {
  const { repo, reading, plan, scope, lastApply, ownedOutOfScope } = planned;
  const { gateway, environment } = repo.target;
  const owned = ownedOutOfScope.length;
  return [
    out.paint.bold(`${gateway} for ${environment}, live is ${reading.name}`),
    ...planLines(repo.profile, plan, out, options),
    ...driftLines(plan, lastApply?.since, out.paint),
    ...scopeLines(scope.notInScope, scope.excludedProviders, out.paint),
    ...(owned === 0
      ? []
      : [
          `${owned} files were applied before and are of no type that the manifest names: they stay`,
        ]),
    `${countsText(plan)}; plan ${plan.planSha256}`,
  ];
}
