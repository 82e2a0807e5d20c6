/**
 * `pnpm chaos [--only NAME]… [--size full|ci] [--list]` breaks a running control plane in one way
 * after the other, and shows that no update is lost, no wrong policy is installed and everybody gets
 * back to the head. Ends with 1 if a scenario failed.
 */
import { readFlags } from "../flags.ts";
import { Ground } from "./ground.ts";
import { type Measured, type Scenario, type Size, Skipped } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/index.ts";
import { header, row } from "./table.ts";
import type { Trial } from "./trial.ts";
import { judge } from "./verdict.ts";

const USAGE = "usage: chaos [--only NAME]... [--size full|ci] [--list]\n";

/** What became of a scenario. */
type Result =
  | { readonly kind: "passed" }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "failed"; readonly reasons: readonly string[] };

/** Runs scenarios one after the other; those that share a ground run on the same one. */
class Run {
  readonly #size: Size;
  #ground: Ground | undefined;

  constructor(size: Size) {
    this.#size = size;
  }

  async scenario(scenario: Scenario): Promise<Result> {
    const sinceMs = performance.now();
    try {
      const trial = await this.#groundFor(scenario);
      const measured = await scenario.run(trial);
      return await this.#judge(scenario, trial, measured, sinceMs);
    } catch (error) {
      if (error instanceof Skipped) return { kind: "skipped", reason: error.message };
      return await this.#failed([error instanceof Error ? (error.stack ?? "") : String(error)]);
    }
  }

  async end(): Promise<void> {
    await this.#ground?.tearDown(false);
    this.#ground = undefined;
  }

  async #groundFor(scenario: Scenario): Promise<Trial> {
    const isShared = (scenario.ground ?? "shared") === "shared";
    if (isShared && this.#ground?.kind === "shared") return this.#ground.trial;
    await this.end();
    this.#ground = await Ground.build(scenario, this.#size);
    return this.#ground.trial;
  }

  async #judge(
    scenario: Scenario,
    trial: Trial,
    measured: Measured,
    sinceMs: number,
  ): Promise<Result> {
    const { lost, wrong, findings } = await judge(trial);
    const agents = trial.parts.estate.agents.length;
    const tookMs = performance.now() - sinceMs;
    process.stdout.write(row(scenario, { agents, lost, wrong, tookMs, ...measured }));
    if (lost + wrong + findings.length > 0) return await this.#failed(findings);
    return { kind: "passed" };
  }

  /** What a failure leaves behind is of no use to the next scenario. */
  async #failed(reasons: readonly string[]): Promise<Result> {
    const logs = this.#ground?.trial.parts.plane.logDirectory;
    await this.#ground?.tearDown(true);
    this.#ground = undefined;
    return {
      kind: "failed",
      reasons: logs === undefined ? reasons : [...reasons, `logs: ${logs}`],
    };
  }
}

async function main(): Promise<number> {
  const values = readFlags(USAGE, {
    only: { type: "string", multiple: true },
    size: { type: "string", default: "full" },
    list: { type: "boolean", default: false },
  });
  const { size } = values;
  const all = SCENARIOS.filter(({ fullOnly }) => size === "full" || fullOnly !== true);
  const { only = all.map(({ name }) => name) } = values;
  const chosen = SCENARIOS.filter(({ name }) => only.includes(name));
  const unknown = only.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown.length > 0 || (size !== "full" && size !== "ci")) {
    const problem = unknown.length > 0 ? `no scenario ${unknown.join(", ")}` : `no size ${size}`;
    process.stderr.write(`chaos: ${problem}\n${USAGE}`);
    return 2;
  }
  if (values.list) {
    for (const { name, fault } of SCENARIOS) process.stdout.write(`${name.padEnd(24)}${fault}\n`);
    return 0;
  }
  return await runAll(chosen, size);
}

async function runAll(chosen: readonly Scenario[], size: Size): Promise<number> {
  const run = new Run(size);
  let passed = 0;
  let failed = 0;
  process.stdout.write(header());
  for (const scenario of chosen) {
    const result = await run.scenario(scenario);
    switch (result.kind) {
      case "passed":
        passed += 1;
        break;
      case "skipped":
        process.stdout.write(`${scenario.name}: skipped: ${result.reason}\n`);
        break;
      case "failed":
        failed += 1;
        process.stdout.write(`${scenario.name}: FAILED\n`);
        for (const reason of result.reasons) process.stdout.write(`  ${reason}\n`);
        break;
      default:
        result satisfies never;
    }
  }
  await run.end();
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

// Every child has a guard of its own on the exit of this process.
process.setMaxListeners(0);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();
