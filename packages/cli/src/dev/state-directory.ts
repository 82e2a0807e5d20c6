import { mkdir, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { LockTaken, takeLock, type Unlock } from "@ringwall/lock-file";
import { CliError, messageOf, systemCode } from "../errors.ts";

/** Where one development control plane keeps its state. */
export interface StateDirectory extends AsyncDisposable {
  readonly root: string;
  readonly nats: string;
  readonly agents: string;
  readonly logs: string;
}

const LOCK = "running.pid";

/**
 * Makes the directory and takes its lock, so that two control planes never share a store. Throws
 * CliError: `denied` without permission, `refused` while another one runs in it.
 */
export async function openStateDirectory(path: string, fresh: boolean): Promise<StateDirectory> {
  const root = resolve(path);
  const directory = {
    root,
    nats: join(root, "nats"),
    agents: join(root, "agents"),
    logs: join(root, "log"),
  };
  let unlock: Unlock;
  try {
    await mkdir(root, { recursive: true });
    unlock = await lock(root);
    if (fresh) {
      for (const each of [directory.nats, directory.agents, directory.logs]) {
        await rm(each, { recursive: true, force: true });
      }
    }
    for (const each of [directory.nats, directory.agents, directory.logs]) {
      await mkdir(each, { recursive: true });
    }
  } catch (error) {
    throw error instanceof CliError ? error : directoryFailure(root, error);
  }
  return {
    ...directory,
    [Symbol.asyncDispose]: unlock,
  };
}

/** True if agents have stored anything below the directory. */
export async function holdsPolicies(agents: string): Promise<boolean> {
  const entries = await readdir(agents, { recursive: true, withFileTypes: true });
  return entries.some((entry) => entry.isFile());
}

/** A process may take its own directory again; the first time counts. */
async function lock(root: string): Promise<Unlock> {
  try {
    return await takeLock(join(root, LOCK));
  } catch (error) {
    if (!(error instanceof LockTaken)) {
      throw error;
    }
    if (error.holder === process.pid) {
      return () => Promise.resolve();
    }
    const by = error.holder === undefined ? "" : ` (process ${error.holder})`;
    throw new CliError("refused", `${root} is in use by another \`ringwall dev\`${by}`, {
      hint: "stop it with Ctrl-C, or use another --state-dir and --port",
    });
  }
}

function directoryFailure(root: string, error: unknown): CliError {
  switch (systemCode(error)) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new CliError("denied", `no permission to write to the state directory ${root}`, {
        hint: "choose another with --state-dir, or change its owner",
      });
    case "ENOTDIR":
    case "EEXIST":
      return new CliError("usage", `the state directory ${root} is not a directory`, {
        hint: "choose another with --state-dir",
      });
    case "ENOSPC":
      return new CliError("refused", `no space left for the state directory ${root}`);
    default:
      return new CliError("refused", `state directory ${root}: ${messageOf(error)}`);
  }
}
