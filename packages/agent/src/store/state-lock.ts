import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { LockTaken, takeLock, type Unlock } from "@ringwall/lock-file";
import { AgentError } from "../errors.ts";

/**
 * Takes a state directory for this process, so that no second agent installs and stores policies of
 * the same workload beside it. Throws AgentError `store-in-use` when an agent that runs has it; where
 * the directory can't be written the error of the file system.
 */
export async function lockStateDirectory(directory: string): Promise<Unlock> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    return await takeLock(join(directory, "lock"));
  } catch (error) {
    if (!(error instanceof LockTaken)) {
      throw error;
    }
    const by = error.holder === undefined ? "agents that start now" : `process ${error.holder}`;
    const todo = "stop that agent, or give this one a state directory of its own";
    throw new AgentError("store-in-use", `state directory ${directory} is used by ${by}; ${todo}`, {
      cause: error,
    });
  }
}
