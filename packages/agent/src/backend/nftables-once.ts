import { spawn } from "node:child_process";
import { AgentError } from "../errors.ts";

/** What a run of nft ended with. */
export interface NftRun {
  readonly ok: boolean;
  readonly output: string;
  /** Its complaint; empty if it has none. */
  readonly words: string;
}

const TIMEOUT_MS = 120_000;
const WORDS_LIMIT = 64 * 1024;

/**
 * Runs nft once. Rejects with `backend-unavailable` where nft or the permission to use it is missing
 * or it does not end within two minutes.
 */
export function nftOnce(
  command: readonly string[],
  args: readonly string[],
  input = "",
): Promise<NftRun> {
  const [binary = "nft", ...rest] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [...rest, ...args]);
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    const output: Buffer[] = [];
    let words = "";
    child.stdout.on("data", (part: Buffer) => output.push(part));
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      words = words.length < WORDS_LIMIT ? words + part : words;
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(hostFault(command, error.message) ?? AgentError.from(error, "backend-unavailable"));
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const fault = code === 0 ? undefined : hostFault(command, words);
      if (fault !== undefined) reject(fault);
      else if (signal !== null) {
        reject(new AgentError("backend-unavailable", `${binary} was ended by ${signal}`));
      } else {
        resolve({
          ok: code === 0,
          output: Buffer.concat(output).toString("utf8"),
          words: words.trim(),
        });
      }
    });
    // A child that ended before it read everything reports through its exit code.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** The fault of the host that nft's words stand for; undefined if they are about the script. */
export function hostFault(command: readonly string[], words: string): AgentError | undefined {
  const binary = command[0] ?? "nft";
  if (/ENOENT|EACCES|command not found/.test(words)) {
    return new AgentError(
      "backend-unavailable",
      `${binary} is not on this host: install the package nftables, or choose --backend file`,
    );
  }
  if (/operation not permitted|permission denied|must be root/i.test(words)) {
    return new AgentError(
      "backend-unavailable",
      `${binary} may not change the ruleset: run the agent with CAP_NET_ADMIN (its systemd unit gives it, root has it), or choose --backend file`,
    );
  }
  return undefined;
}
