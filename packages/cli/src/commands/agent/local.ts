import {
  AgentError,
  FileStore,
  NftablesBackend,
  type PolicyRecord,
  type StoredState,
} from "@ringwall/agent";
import { type Command, Option } from "commander";
import { CliError } from "../../errors.ts";

/** Options of what looks at this host. */
export interface LocalOptions {
  readonly workload?: string;
  readonly stateDir: string;
  readonly nft: string;
}

/** Adds them; variables and defaults are the agent's own. */
export function addLocalOptions(command: Command): Command {
  return command
    .addOption(new Option("--workload <id>", "id of this host's workload").env("RINGWALL_WORKLOAD"))
    .addOption(
      new Option("--state-dir <dir>", "directory of the stored policies")
        .default("/var/lib/ringwall")
        .env("RINGWALL_STATE_DIR"),
    )
    .addOption(new Option("--nft <binary>", "nft binary").default("nft").env("RINGWALL_NFT"));
}

/** The backend of this host, for looking and for taking away. */
export function localBackend({ stateDir, nft }: LocalOptions): NftablesBackend {
  return new NftablesBackend({ directory: stateDir, compile: {}, nft: [nft] });
}

/** What the agent of this host has stored. Throws CliError `usage` without a workload id. */
export async function storedState({ workload = "", stateDir }: LocalOptions): Promise<StoredState> {
  if (workload === "") {
    throw new CliError("usage", "say which workload this host is: --workload <id>", {
      hint: "or set RINGWALL_WORKLOAD, as the agent's own environment does",
    });
  }
  return new FileStore(workload, stateDir).load();
}

/** The stored policy. Throws CliError `refused` where there is none. */
export async function storedRecord(options: LocalOptions): Promise<PolicyRecord> {
  const { record, faults } = await storedState(options);
  if (record !== undefined) return record;
  throw new CliError("refused", `${options.stateDir} holds no policy of ${options.workload}`, {
    lines: faults,
    hint: "an agent stores its policy once it has one: ringwall agent run",
  });
}

/** Runs something on the host; its faults become the command's. */
export async function onHost<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    throw new CliError(/CAP_NET_ADMIN/.test(error.message) ? "denied" : "refused", error.message);
  }
}
