import {
  firstDifference,
  isSame,
  type Plan,
  type PlanEntry,
  type PlannedFile,
  type PlanStatus,
  type Profile,
  sortPaths,
  unifiedDiff,
} from "@ringwall/declared";
import type { CommitSummary } from "@ringwall/wire";
import type { Out } from "../output/out.ts";
import { harmless, type Paint } from "../output/paint.ts";
import { timeText } from "../output/time.ts";
import { commitName } from "./live-reading.ts";

/** How much of a plan is shown. */
export interface PlanViewOptions {
  readonly diff?: boolean;
  /** What the sides are called in differences; default live and declared. */
  readonly sides?: Sides;
}

/** Names of the older and the newer side of a difference. */
export type Sides = readonly [older: string, newer: string];

const STATUSES: readonly PlanStatus[] = ["added", "changed", "removed", "same", "unmanaged"];

/** Number of units of each status. */
export function countStatuses(plan: Plan): Readonly<Record<PlanStatus, number>> {
  const counts = { added: 0, changed: 0, removed: 0, same: 0, unmanaged: 0 };
  for (const { status } of plan.entries) counts[status] += 1;
  return counts;
}

/** "1 added, 2 changed, 0 removed, 30 same, 1 unmanaged". */
export function countsText(plan: Plan): string {
  const counts = countStatuses(plan);
  return STATUSES.map((status) => `${counts[status]} ${status}`).join(", ");
}

/** A plan as JSON. */
export function planJson(profile: Profile, plan: Plan, options: PlanViewOptions) {
  return {
    hasChanges: plan.hasChanges,
    destructive: plan.destructive,
    planSha256: plan.planSha256,
    counts: countStatuses(plan),
    entries: plan.entries.map((entry) => ({
      key: entry.key,
      status: entry.status,
      liveIn: entry.liveIn,
      destructive: entry.destructive,
      files: entry.files.map((file) => ({
        path: file.path,
        live: file.live?.sha256 ?? null,
        desired: file.desired?.sha256 ?? null,
        ...(isShown(entry, file) ? { difference: differenceText(file) } : {}),
      })),
    })),
    deletes: plan.deletes,
    drift: plan.drift,
    ...(options.diff === true ? { diff: diffLines(profile, plan, options.sides).join("\n") } : {}),
  };
}

/** A plan as lines for people; units that are the same are only counted. */
export function planLines(
  profile: Profile,
  plan: Plan,
  out: Out,
  options: PlanViewOptions,
): string[] {
  const shown = plan.entries.filter(({ status }) => status !== "same");
  const drifted = new Set(plan.drift.map(({ key }) => key));
  const lines = shown.flatMap((entry) => entryLines(entry, drifted.has(entry.key), out.paint));
  if (options.diff === true) {
    lines.push(
      ...diffLines(profile, plan, options.sides).map((line) => diffColour(line, out.paint)),
    );
  }
  return lines;
}

function entryLines(entry: PlanEntry, drifted: boolean, paint: Paint): string[] {
  const { key, status, liveIn, destructive, files } = entry;
  const notes = [
    ...(status === "changed" &&
    liveIn.length === 1 &&
    liveIn[0] === "core" &&
    !key.startsWith("core/")
      ? ["inherited from core"]
      : []),
    ...(destructive ? [paint.red("destructive")] : []),
    ...(drifted ? [paint.yellow("drift")] : []),
  ];
  const title = `${sign(status, paint)} ${harmless(key)}`;
  const note = notes.length === 0 ? "" : `  (${notes.join(", ")})`;
  const differing = files.filter((file) => status === "changed" && isShown(entry, file));
  return [
    `${title}${note}`,
    ...differing.map(
      (file) => `    ${paint.dim(harmless(`${file.path}: ${differenceText(file)}`))}`,
    ),
  ];
}

function isShown({ status }: PlanEntry, file: PlannedFile): boolean {
  return status !== "same" && status !== "unmanaged" && !isSame(file);
}

function differenceText({ path, live, desired }: PlannedFile): string {
  return firstDifference(path, live, desired);
}

function sign(status: PlanStatus, paint: Paint): string {
  switch (status) {
    case "added":
      return paint.green("+");
    case "changed":
      return paint.yellow("~");
    case "removed":
      return paint.red("-");
    case "unmanaged":
      return paint.dim("?");
    case "same":
      return " ";
  }
}

/** The unified difference of everything that would be written or deleted, secrets replaced. */
export function diffLines(profile: Profile, plan: Plan, sides?: Sides): string[] {
  const deletes = new Set(plan.deletes);
  return plan.entries.flatMap((entry) =>
    entry.files
      .filter(
        (file) => isShown(entry, file) && (file.desired !== undefined || deletes.has(file.path)),
      )
      .flatMap((file) => fileDiff(profile, file, sides)),
  );
}

function fileDiff(
  profile: Profile,
  { path, live, desired }: PlannedFile,
  sides: Sides = ["live", "declared"],
): string[] {
  return unifiedDiff(profile, {
    name: path,
    sides,
    path: path.replace(/^(?:core|environment)\//, ""),
    ...(live === undefined ? {} : { older: live }),
    ...(desired === undefined ? {} : { newer: desired }),
  });
}

/** A line of a difference in the colours that people know. */
export function diffColour(line: string, paint: Paint): string {
  const text = harmless(line);
  if (/^(?:---|\+\+\+) /.test(text)) return paint.bold(text);
  if (text.startsWith("@@")) return paint.cyan(text);
  if (text.startsWith("+")) return paint.green(text);
  return text.startsWith("-") ? paint.red(text) : text;
}

const COMMITS_SHOWN = 10;

/** What drifted, and which commits may have done it. */
export function driftLines(
  plan: Plan,
  since: readonly CommitSummary[] | undefined,
  paint: Paint,
): string[] {
  if (plan.drift.length === 0) return [];
  const lines = [
    paint.yellow(`changed live since the last apply: ${plan.drift.length} files`),
    ...plan.drift.map(({ path, overwritten }) => {
      const effect = overwritten ? "applying would replace or delete it" : "applying leaves it";
      return `    ${harmless(path)}  ${paint.dim(`(${effect})`)}`;
    }),
  ];
  for (const commit of (since ?? []).slice(0, COMMITS_SHOWN)) {
    const time = timeText(new Date(Number(commit.timeUnixMs)).toISOString());
    const what = `${commitName(commit)} by ${commit.author} at ${time}: ${commit.message}`;
    lines.push(`    ${paint.dim(harmless(what))}`);
  }
  return lines;
}

/** What a manifest leaves unread, so that nobody believes that everything was compared. */
export function scopeLines(
  notInScope: readonly string[],
  excluded: readonly string[],
  paint: Paint,
): string[] {
  const lines: string[] = [];
  if (notInScope.length > 0) {
    lines.push(`not compared, because the manifest does not name them: ${notInScope.join(", ")}`);
  }
  if (excluded.length > 0)
    lines.push(`excluded tag providers: ${sortPaths([...excluded]).join(", ")}`);
  return lines.map((line) => paint.dim(harmless(line)));
}
