import { join } from "node:path";
import { type Outcome, run } from "./process.ts";

/** State of a workload as `ringwall get workloads --json` shows it. */
export interface WorkloadLine {
  readonly id: string;
  readonly state: string;
}

/** The `ringwall` command on this host, against the containers' NATS. */
export class Operator {
  readonly #root: string;
  readonly #natsUrl: string;

  constructor(root: string, natsUrl: string) {
    this.#root = root;
    this.#natsUrl = natsUrl;
  }

  /** Runs a command with `--json`. */
  ringwall(args: readonly string[], stdin = ""): Promise<Outcome> {
    const main = join(this.#root, "packages/cli/src/main.ts");
    return run(process.execPath, [main, "--nats-url", this.#natsUrl, "--json", ...args], {
      stdin,
      timeoutMs: 120_000,
    });
  }

  /** The workloads with their states. */
  async workloads(): Promise<readonly WorkloadLine[]> {
    const outcome = await this.ringwall(["get", "workloads"]);
    if (outcome.code !== 0) {
      throw new Error(`get workloads ended with ${outcome.code}: ${words(outcome)}`);
    }
    // The command's documented JSON form.
    return (JSON.parse(outcome.stdout) as { workloads: WorkloadLine[] }).workloads;
  }

  /** Waits until every one of so many workloads is SYNCED. */
  async allSynced(count: number, withinMs: number): Promise<void> {
    const until = Date.now() + withinMs;
    for (;;) {
      const lines = await this.workloads();
      const missing = lines.filter(({ state }) => state !== "SYNCED");
      if (lines.length === count && missing.length === 0) return;
      if (Date.now() >= until) {
        const states = lines.map(({ id, state }) => `${id} ${state}`).join(", ");
        throw new Error(`not every workload is SYNCED after ${withinMs} ms: ${states}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  /** Opens or closes web → db on 5432 and waits until it has converged. */
  async webMayQuery(allowed: boolean): Promise<void> {
    const document = `kind: Ruleset
name: web-to-db
enabled: ${allowed}
scope: role=db
rules:
  - name: web-queries
    peers: [{ workloads: role=web }]
    services: [postgres]
`;
    const outcome = await this.ringwall(["apply", "-f", "-", "--wait=60"], document);
    if (outcome.code !== 0) {
      throw new Error(`apply ended with ${outcome.code}: ${words(outcome)}`);
    }
  }
}

function words({ stdout, stderr }: Outcome): string {
  return (stderr.trim() || stdout.trim()).slice(-600);
}
