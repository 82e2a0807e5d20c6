import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
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
  try {
    await mkdir(root, { recursive: true });
    await takeLock(root);
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
    [Symbol.asyncDispose]: () => rm(join(root, LOCK), { force: true }),
  };
}

/** True if agents have stored anything below the directory. */
export async function holdsPolicies(agents: string): Promise<boolean> {
  const entries = await readdir(agents, { recursive: true, withFileTypes: true });
  return entries.some((entry) => entry.isFile());
}

async function takeLock(root: string): Promise<void> {
  const lock = join(root, LOCK);
  const pid = Number(await readFile(lock, "utf8").catch(() => "0"));
  if (pid > 0 && pid !== process.pid && isRunning(pid)) {
    throw new CliError(
      "refused",
      `${root} is in use by another \`ringwall dev\` (process ${pid})`,
      {
        hint: "stop it with Ctrl-C, or use another --state-dir and --port",
      },
    );
  }
  await writeFile(lock, `${process.pid}\n`);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
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
