import type { Plan } from "@ringwall/declared";
import { CliError } from "../errors.ts";
import type { GateOptions } from "./options.ts";

const SHOWN = 10;

/**
 * Lets a plan pass, or says what it takes. Throws CliError `usage` when a confirmation is missing and
 * `refused` when the live side is not as it must be.
 */
export function passGates(plan: Plan, options: GateOptions): void {
  const { planSha256, drift, deletes } = plan;
  if (options.planSha256 !== undefined && options.planSha256.toLowerCase() !== planSha256) {
    throw new CliError(
      "refused",
      `the plan is ${planSha256} now, --plan-sha256 asks for ${options.planSha256}`,
      { hint: "look at `ringwall plan` again: one of the sides has changed", data: { planSha256 } },
    );
  }
  const lost = drift.filter(({ overwritten }) => overwritten);
  if (lost.length > 0 && (options.allowDrift ?? "") === "") {
    throw new CliError("refused", `${lost.length} files were changed live and would be replaced`, {
      hint: "`ringwall pull` takes the changes over; --allow-drift REASON replaces them",
      lines: someOf(lost.map(({ path }) => path)),
      data: { drift: lost },
    });
  }
  if (plan.destructive && options.allowDestructive !== true) {
    throw new CliError("usage", `${deletes.length} files would be deleted`, {
      hint: "add --allow-destructive if that is meant",
      lines: someOf(deletes),
      data: { deletes },
    });
  }
}

function someOf(names: readonly string[]): string[] {
  const rest = names.length - SHOWN;
  return rest > 0 ? [...names.slice(0, SHOWN), `and ${rest} more`] : [...names];
}
