import { spawn } from "node:child_process";
import { AgentError } from "../errors.ts";
import type { BackendResult } from "./backend.ts";

const CHECK_TIMEOUT_MS = 60_000;
const DETAIL_LIMIT = 1024;

/** Checks scripts with the host's nft, a few at a time. */
export interface NftChecker {
  /** `undefined` if this process may not ask the kernel, with the reason in `unavailable`. */
  check(script: string): Promise<BackendResult | { readonly unavailable: string }>;
}

/**
 * Runs `nft -c -f -`, at most `concurrency` (default 2) at a time. A host without nft or without
 * the permission to use it answers `unavailable`.
 */
export function nftChecker(binary = "nft", concurrency = 2): NftChecker {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = async () => {
    if (running >= concurrency) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) {
      running -= 1;
    } else {
      next();
    }
  };
  return {
    check: async (script) => {
      await enter();
      try {
        return await runCheck(binary, script);
      } finally {
        leave();
      }
    },
  };
}

function runCheck(
  binary: string,
  script: string,
): Promise<BackendResult | { readonly unavailable: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, ["-c", "-f", "-"], {
      stdio: ["pipe", "ignore", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), CHECK_TIMEOUT_MS);
    let words = "";
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      words = words.length < DETAIL_LIMIT ? words + text : words;
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (error.code === "ENOENT" || error.code === "EACCES") {
        resolve({ unavailable: `${binary} is not on this host` });
      } else {
        reject(new AgentError("backend-unavailable", `${binary} could not run: ${error.message}`));
      }
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) {
        resolve({ ok: true, detail: "" });
      } else if (signal !== null) {
        reject(new AgentError("backend-unavailable", `${binary} was ended by ${signal}`));
      } else if (/operation not permitted|permission denied|must be root/i.test(words)) {
        resolve({ unavailable: `${binary} needs CAP_NET_ADMIN` });
      } else {
        resolve({ ok: false, detail: words.trim().slice(0, DETAIL_LIMIT) });
      }
    });
    // A child that ended before it read everything reports through its exit code.
    child.stdin.on("error", () => undefined);
    child.stdin.end(script);
  });
}
