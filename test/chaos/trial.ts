import { eventually, type NatsServer } from "@ringwall/testkit";
import { AgentState } from "@ringwall/wire";
import type { AgentProcess } from "./lab/agent-process.ts";
import type { ControlPlane } from "./lab/control-plane.ts";
import type { Estate } from "./lab/estate.ts";
import type { FaultyProxy } from "./lab/faulty-proxy.ts";
import type { Fleet } from "./lab/fleet.ts";
import type { NatsCluster } from "./lab/nats-cluster.ts";
import type { SmallDisk } from "./lab/small-disk.ts";
import type { VersionLog } from "./lab/version-log.ts";
import type { Witness } from "./lab/witness.ts";
import type { Writer } from "./lab/writer.ts";
import type { Size } from "./scenario.ts";

const HEAD_DEADLINE_MS = 120_000;

/** What a trial is made of. */
export interface TrialParts {
  readonly size: Size;
  /** The server, or the first of a cluster. */
  readonly server: NatsServer;
  /** Port of the server's monitoring pages where it has any. */
  readonly monitorPort?: number;
  readonly cluster?: NatsCluster;
  /** Stands between the services and the server where there is one. */
  readonly proxy?: FaultyProxy;
  readonly disk?: SmallDisk;
  readonly plane: ControlPlane;
  readonly estate: Estate;
  readonly witness: Witness;
  readonly writer: Writer;
  readonly log: VersionLog;
  readonly fleet: Fleet;
  /** Agents of another process, with policies on disk; they come after those of the fleet. */
  readonly agents: AgentProcess;
}

/** What a run of a scenario works with, and how it finds that all is well. */
export class Trial {
  readonly parts: TrialParts;

  constructor(parts: TrialParts) {
    this.parts = parts;
  }

  /** A length of time that the size of the run scales. */
  ms(size: { readonly ci: number; readonly full: number }): number {
    return size[this.parts.size];
  }

  /** Lets things go on for a while; nothing is expected to have happened after it. */
  async pass(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Changes the estate for a while. */
  async load(ms: number): Promise<void> {
    this.parts.writer.start();
    await this.pass(ms);
  }

  /**
   * Ends the changes with one commit and one registration more, and waits until every agent has what
   * follows from all that was acknowledged. Returns the milliseconds since `sinceMs`.
   */
  async settle(sinceMs: number): Promise<number> {
    const { writer } = this.parts;
    await writer.stop();
    await writer.change(2);
    await this.atHead();
    return performance.now() - sinceMs;
  }

  /** Waits until every agent has what follows from all that was acknowledged. */
  async atHead(): Promise<void> {
    const expected = this.parts.estate.expected();
    await eventually(
      "every agent is at head",
      () => this.behind(expected),
      (behind) => behind.length === 0,
      HEAD_DEADLINE_MS,
    ).catch(() => undefined);
  }

  /** Agents whose policy is not the expected one. */
  async behind(expected = this.parts.estate.expected()): Promise<readonly string[]> {
    const { witness, agents } = this.parts;
    const onDisk = new Set(agents.workloads);
    const behind: string[] = [];
    for (const [workload, digest] of expected) {
      const record = onDisk.has(workload)
        ? await agents.current(workload)
        : witness.current(workload);
      if (record?.digest !== digest) behind.push(workload);
      // One is enough to know that it is not over; the rest of a large fleet need not be read.
      if (behind.length > 0 && onDisk.has(workload)) break;
    }
    return behind;
  }

  /** Waits until every agent's state is one of these by what the gateways tell. */
  async states(wanted: readonly AgentState[], deadlineMs = 60_000): Promise<void> {
    const { plane, estate } = this.parts;
    const agents = new Set(estate.agents);
    await eventually(
      `every agent is ${wanted.map(stateName).join(" or ")}`,
      async () => {
        const statuses = await plane.operator.statuses().catch(() => []);
        const mine = statuses.filter(({ workload }) => agents.has(workload));
        const other = mine.filter(({ state }) => !wanted.includes(state));
        return [
          ...other.map(
            ({ workload, state, detail }) => `${workload} ${stateName(state)} ${detail}`,
          ),
          ...(mine.length === agents.size ? [] : [`${agents.size - mine.length} not listed`]),
        ];
      },
      (other) => other.length === 0,
      deadlineMs,
    );
  }

  /** Subscriptions at the server. */
  async subscriptions(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.parts.monitorPort}/subsz`);
    // The page of nats-server has this member.
    const { num_subscriptions } = (await response.json()) as { num_subscriptions: number };
    return num_subscriptions;
  }

  /** Fails if any agent's policy changes within the time. */
  async nothingInstalled(ms: number): Promise<void> {
    const { witness } = this.parts;
    const before = witness.taken.length;
    await this.pass(ms);
    if (witness.taken.length !== before) {
      throw new Error(`${witness.taken.length - before} policies were installed while held`);
    }
  }
}

function stateName(state: AgentState): string {
  return Object.entries(AgentState).find(([, value]) => value === state)?.[0] ?? String(state);
}
