import { AgentState } from "@ringwall/wire";
import type { Trial } from "./trial.ts";

/** What was found when a fault was over. */
export interface Verdict {
  /** Acknowledged changes that are missing at an agent, summed over agents. */
  readonly lost: number;
  /** Policies that were not what the log says, went back, or opened a host. */
  readonly wrong: number;
  /** In words, at most a few. */
  readonly findings: readonly string[];
}

const FINDINGS_SHOWN = 5;

/** Compares every agent, the log and the gateways' word, now that every change was acknowledged. */
export async function judge(trial: Trial): Promise<Verdict> {
  const { plane, estate, witness, log, agents } = trial.parts;
  const expected = estate.expected();
  const findings: string[] = [];
  await trial.states([AgentState.SYNCED]).catch((error: unknown) => findings.push(String(error)));
  const onDisk = await Promise.all(
    agents.workloads.map(async (workload) => [workload, await agents.current(workload)] as const),
  );
  const stored = new Map(onDisk);
  const lost = [...expected].filter(([workload, digest]) => {
    const record = stored.get(workload) ?? witness.current(workload);
    return record?.digest !== digest;
  });
  await log.read(plane.bus);
  const kept = onDisk.flatMap(([workload, record]) =>
    record === undefined
      ? []
      : [{ workload, epoch: record.epoch, version: record.policy.version, digest: record.digest }],
  );
  const wrong = [
    ...witness.wrong.splice(0),
    ...log.wrong.splice(0),
    ...log.strange([...witness.taken.splice(0), ...kept]),
  ];
  if (lost.length > 0) findings.push(`behind: ${shown(lost.map(([workload]) => workload))}`);
  if (wrong.length > 0) findings.push(shown(wrong));
  return { lost: lost.length, wrong: wrong.length, findings };
}

function shown(texts: readonly string[]): string {
  const rest = texts.length - FINDINGS_SHOWN;
  return texts.slice(0, FINDINGS_SHOWN).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}
