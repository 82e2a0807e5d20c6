import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { NftablesBackend } from "@ringwall/agent";
import { bodyDigest, type Canonical, canonical } from "@ringwall/rendered";
import {
  EnforcementMode,
  Protocol,
  type WorkloadPolicy,
  WorkloadPolicySchema,
} from "@ringwall/wire";
import { percentiles, report, reportMachine } from "./harness.ts";

const NETNS_VARIABLE = "RINGWALL_BENCH_NETNS";

interface Case {
  readonly name: string;
  readonly peers: readonly string[];
  /** Whether nft needs an interval set. */
  readonly interval: boolean;
  /** Swapped with the last peer by a step. */
  readonly newcomer: string;
  readonly rounds: number;
}

/**
 * How long it takes until a policy is in force, beside `nft -f` of the same elements in the same run:
 * whole loads and steps of one peer. Ours compiles, checks and installs, as the agent does; raw only
 * loads a ready file. Runs in a network namespace of its own; needs root.
 */
export async function bench(): Promise<void> {
  if (process.env[NETNS_VARIABLE] === undefined) {
    runInNetns();
    return;
  }
  reportMachine("nft");
  const directory = mkdtempSync(join(tmpdir(), "ringwall-bench-"));
  try {
    for (const each of CASES) await measureCase(each, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const CASES: readonly Case[] = [
  { name: "1k hosts", peers: hosts(1_000), interval: false, newcomer: "10.200.0.1/32", rounds: 25 },
  {
    name: "10k hosts",
    peers: hosts(10_000),
    interval: false,
    newcomer: "10.200.0.1/32",
    rounds: 15,
  },
  {
    name: "60k hosts",
    peers: hosts(60_000),
    interval: false,
    newcomer: "10.200.0.1/32",
    rounds: 7,
  },
  {
    name: "10k prefixes",
    peers: prefixes(10_000),
    interval: true,
    newcomer: "10.200.0.0/24",
    rounds: 11,
  },
];

async function measureCase(each: Case, directory: string): Promise<void> {
  const backend = new NftablesBackend({ directory: join(directory, "agent"), compile: {} });
  const rawFile = join(directory, "raw.nft");
  const stepFile = join(directory, "step.nft");
  const last = each.peers.at(-1) ?? "";
  const times = {
    load: [] as number[],
    raw: [] as number[],
    step: [] as number[],
    rawStep: [] as number[],
  };
  writeFileSync(rawFile, rawScript(each));
  writeFileSync(stepFile, stepScript(last, each.newcomer));
  let policy = policyOf(each.peers, "bench/tcp");
  await apply(backend, policy, undefined);
  for (let round = 0; round < each.rounds; round += 1) {
    times.raw.push(timeRaw(rawFile));
    // A frame and a body that nobody has seen yet: nothing of them is remembered.
    const fresh = policyOf([...each.peers], `bench-${round}/tcp`);
    times.load.push(await time(() => apply(backend, fresh, undefined)));
    policy = fresh;
    // The load was read back when this returns.
    await backend.current();
    times.rawStep.push(timeRaw(stepFile));
    const stepped = policyOf([...each.peers.slice(0, -1), each.newcomer], `bench-${round}/tcp`);
    times.step.push(await time(() => apply(backend, stepped, policy)));
  }
  backend.close();
  spawnSync("nft", ["flush", "ruleset"]);
  reportTimes(`load ${each.name}`, times.load, times.raw);
  reportTimes(`one-peer step in ${each.name}`, times.step, times.rawStep);
}

async function apply(
  backend: NftablesBackend,
  policy: Canonical<WorkloadPolicy>,
  previous: Canonical<WorkloadPolicy> | undefined,
): Promise<void> {
  const checked = await backend.check(policy);
  const result = checked.ok ? await backend.install(policy, previous) : checked;
  const wanted = previous === undefined ? "loaded whole" : "changed peers";
  if (result.detail !== wanted) throw new Error(`bench: "${result.detail}" instead of "${wanted}"`);
}

function timeRaw(file: string): number {
  const start = performance.now();
  const run = spawnSync("nft", ["-f", file], { encoding: "utf8" });
  const elapsed = performance.now() - start;
  if (run.status !== 0) throw new Error(`bench: nft -f: ${run.stderr}`);
  return elapsed;
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function reportTimes(name: string, ours: readonly number[], raw: readonly number[]): void {
  const [mine, theirs] = [percentiles(ours), percentiles(raw)];
  report({
    bench: "nft",
    case: name,
    unit: "ms",
    p50: round(mine.p50),
    p99: round(mine.p99),
    best: round(Math.min(...ours)),
    samples: ours.length,
    baseline: round(theirs.p50),
    baselineP99: round(theirs.p99),
    baselineBest: round(Math.min(...raw)),
    ratio: round(theirs.p50 / mine.p50),
    timesRaw: round(mine.p50 / theirs.p50),
  });
}

/** A policy as the session hands it over: its digest was compared with the one that was pushed. */
function policyOf(peerCidrs: readonly string[], ruleId: string): Canonical<WorkloadPolicy> {
  const policy = canonical(
    create(WorkloadPolicySchema, {
      mode: EnforcementMode.ENFORCED,
      inboundRules: [
        {
          ruleId,
          protocol: Protocol.TCP,
          ports: [{ start: 443, end: 443 }],
          peerCidrs: [...peerCidrs],
        },
      ],
    }),
  );
  bodyDigest(policy);
  return policy;
}

function rawScript({ peers, interval }: Case): string {
  return [
    "table inet raw",
    "delete table inet raw",
    "table inet raw {",
    `  set peers { type ipv4_addr;${interval ? " flags interval;" : ""} elements = { ${peers.map(element).join(", ")} }; }`,
    "  chain input {",
    "    type filter hook input priority filter; policy accept;",
    "    ct state established,related accept",
    "    ip saddr @peers tcp dport 443 counter accept",
    "    counter drop",
    "  }",
    "}",
    "",
  ].join("\n");
}

function stepScript(leaves: string, comes: string): string {
  return [
    `delete element inet raw peers { ${element(leaves)} }`,
    `add element inet raw peers { ${element(comes)} }`,
    "",
  ].join("\n");
}

function element(peer: string): string {
  return peer.replace(/\/32$/, "");
}

function hosts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`);
}

/** Every other /24, so that none joins its neighbour. */
function prefixes(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `10.${i >> 7}.${(i & 127) * 2}.0/24`);
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

function runInNetns(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    report({ bench: "nft", case: "skipped", reason: "needs root on Linux" });
    return;
  }
  const netns = `rwbench${process.pid}`;
  spawnSync("ip", ["netns", "add", netns], { stdio: "inherit" });
  try {
    const self = [process.execPath, join(import.meta.dirname, "run.ts"), "nft"];
    const run = spawnSync("ip", ["netns", "exec", netns, ...self], {
      stdio: "inherit",
      env: { ...process.env, [NETNS_VARIABLE]: netns },
    });
    process.exitCode = run.status ?? 1;
  } finally {
    spawnSync("ip", ["netns", "del", netns], { stdio: "inherit" });
  }
}
