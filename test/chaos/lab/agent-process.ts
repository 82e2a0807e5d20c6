import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileStore, type PolicyRecord } from "@ringwall/agent";
import { freePort } from "@ringwall/testkit";
import { ServiceProcess } from "./service-process.ts";

/** Agents as a process of their own, with policies on disk and the file backend. */
export class AgentProcess {
  readonly workloads: readonly string[];
  readonly process: ServiceProcess;
  readonly #directory: string;

  private constructor(workloads: readonly string[], process: ServiceProcess, directory: string) {
    this.workloads = workloads;
    this.process = process;
    this.#directory = directory;
  }

  static async start(url: string, workloads: readonly string[]): Promise<AgentProcess> {
    const directory = await mkdtemp(join(tmpdir(), "ringwall-chaos-agents-"));
    const estate = join(directory, "estate.json");
    await writeFile(estate, JSON.stringify(workloads.map((workload) => ({ workload }))));
    const process = new ServiceProcess({
      service: "agent",
      name: "agents",
      httpPort: await freePort(),
      logFile: join(directory, "agents.log"),
      args: ["--nats-url", url, "--estate", estate, "--state-dir", directory, "--backend", "file"],
    });
    process.start();
    return new AgentProcess(workloads, process, directory);
  }

  /** The policy that is on disk. */
  async current(workload: string): Promise<PolicyRecord | undefined> {
    const { record } = await new FileStore(workload, join(this.#directory, workload)).load();
    return record;
  }

  async stop(): Promise<void> {
    await this.process.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
