import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { platform, release } from "node:os";
import { nftChecker } from "@ringwall/agent";
import { type Check, fail, ok, warn } from "./check.ts";

const OLDEST_NODE = 24;
const OLDEST_KERNEL: readonly [number, number] = [5, 10];
const STATE_DIRECTORY = "/var/lib/ringwall";
const WORLD_WRITABLE = 0o002;

/** Every kind of statement that a compiled policy uses. */
const PROBE = `table inet ringwall_doctor {
  set hosts { type ipv4_addr; elements = { 192.0.2.1 } }
  set nets { type ipv6_addr; flags interval; elements = { 2001:db8::/32 } }
  chain inbound {
    type filter hook input priority 0; policy accept;
    ct state established,related accept
    ip saddr @hosts tcp dport { 22, 8000-8010 } counter accept comment "probe"
    ip6 saddr @nets counter accept
    limit rate 1/second log prefix "probe "
    meta mark set 1 counter drop
  }
  chain outbound {
    type nat hook output priority -100; policy accept;
    ip daddr 240.0.0.1 tcp dport 80 dnat ip to numgen random mod 2 map { 0 : 192.0.2.1, 1 : 192.0.2.2 }
  }
}
`;

/** What this host needs for the command, and for an agent that enforces. */
export async function hostChecks(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  return [
    node(),
    ...(platform() === "linux" ? [kernel(), nftVersion(), await nftStatements()] : [noLinux()]),
    stateDirectory(environment.RINGWALL_STATE_DIR || STATE_DIRECTORY),
  ];
}

function node(): Check {
  const { node: version } = process.versions;
  return Number(version.split(".")[0]) >= OLDEST_NODE
    ? ok("node", version)
    : fail("node", version, `run it with Node ${OLDEST_NODE} or newer`);
}

function noLinux(): Check {
  return warn(
    "kernel",
    `${platform()} ${release()}: no nftables`,
    "the command works; agents here can only use --backend file",
  );
}

function kernel(): Check {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_KERNEL;
  const old = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return old
    ? fail(
        "kernel",
        release(),
        `agents that enforce need Linux ${OLDEST_KERNEL.join(".")} or newer`,
      )
    : ok("kernel", release());
}

function nftVersion(): Check {
  const run = spawnSync("nft", ["--version"], { encoding: "utf8" });
  return run.status === 0
    ? ok("nft", run.stdout.trim())
    : warn(
        "nft",
        "not installed",
        "install the package nftables on hosts whose agent is to enforce",
      );
}

async function nftStatements(): Promise<Check> {
  const subject = "nft statements";
  try {
    const result = await nftChecker().check(PROBE);
    if ("unavailable" in result) {
      return warn(
        subject,
        result.unavailable,
        "run doctor as root, or with CAP_NET_ADMIN, to see whether an agent could enforce here",
      );
    }
    return result.ok
      ? ok(subject, "sets, intervals, counters, log, nat with weights")
      : fail(subject, result.detail, "load the kernel's nf_tables modules, or use a newer kernel");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return warn(subject, reason, "install the package nftables where an agent is to enforce");
  }
}

/** The directory of an agent's stored policies, where there is one. */
function stateDirectory(path: string): Check {
  const subject = "state directory";
  try {
    const { mode } = statSync(path);
    accessSync(path, constants.W_OK);
    return (mode & WORLD_WRITABLE) === 0
      ? ok(subject, path)
      : warn(subject, `${path} can be written by everybody`, `chmod o-w ${path}`);
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return missing
      ? ok(subject, `${path} is not there; an agent makes it`)
      : warn(subject, `${path} can't be written`, "run the agent as the directory's owner");
  }
}
