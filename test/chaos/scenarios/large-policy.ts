import { marshal } from "@ringwall/rendered";
import { eventually } from "@ringwall/testkit";
import { document } from "../lab/estate.ts";
import { Fleet } from "../lab/fleet.ts";
import type { Document } from "../lab/operator.ts";
import type { Scenario } from "../scenario.ts";
import type { Trial } from "../trial.ts";

const ID = "large-1";
const PEERS = 65_536;
const GROUPS = 4;
/** Rules of one body of more than 20 MiB, and of one of more than 32 MiB. */
const RULES = { fits: 9, exceeds: 14 } as const;
const MIB = 1024 * 1024;
const DEADLINE_MS = 120_000;

/** A policy near the limit arrives whole; one past the limit is refused and changes nothing. */
export const largePolicy: Scenario = {
  name: "large-policy",
  fault:
    "a policy of over 20 MiB arrives; one of over 32 MiB is refused, and the agent keeps its own",
  async run(trial) {
    const { server, plane, estate, witness } = trial.parts;
    const groups = peerGroups();
    for (const { cidrs } of groups) for (const cidr of cidrs) estate.ever.add(cidr);
    const large = await Fleet.start({
      ...{ url: server.url, connections: 1, workloads: [ID], witness },
    });
    try {
      await plane.operator.report({ id: ID, labels: { app: "large" }, addresses: ["10.204.0.1"] });
      const documents = groups.map(({ name, cidrs }) =>
        document("address-group", name, { kind: "AddressGroup", cidrs }),
      );
      const sinceMs = performance.now();
      await plane.operator.commit([...documents, ruleset(RULES.fits)], "a large policy");
      await eventually(
        "it is there",
        () => sizeOf(trial),
        (size) => size > 20 * MIB,
        DEADLINE_MS,
      );
      const toHeadMs = performance.now() - sinceMs;
      const [size, version] = [sizeOf(trial), witness.current(ID)?.policy.version];
      await plane.operator.commit([ruleset(RULES.exceeds)], "too large a policy");
      const detail = await refusal(trial);
      if (witness.current(ID)?.policy.version !== version) throw new Error("the policy changed");
      await plane.operator.commit([ruleset(RULES.fits - 1)], "a smaller policy");
      await eventually(
        "it goes on",
        () => sizeOf(trial),
        (now) => now < size,
        DEADLINE_MS,
      );
      return { toHeadMs, note: `${(size / MIB).toFixed(1)} MiB arrived; ${detail}` };
    } finally {
      await large.stop();
    }
  },
};

/** Waits until the refusal is shown with the workload's name, the actual and the allowed size. */
async function refusal(trial: Trial): Promise<string> {
  const { operator } = trial.parts.plane;
  const words = await eventually(
    "the refusal is shown",
    async () => {
      const statuses = await operator.statuses().catch(() => []);
      return statuses.find(({ workload }) => workload === ID)?.detail ?? "";
    },
    (detail) => /\d{8}/.test(detail.replaceAll(/[ ,_]/g, "")),
    DEADLINE_MS,
  );
  return `${ID}: ${words}`;
}

function sizeOf(trial: Trial): number {
  const record = trial.parts.witness.current(ID);
  return record === undefined ? 0 : marshal(record.policy).length;
}

function peerGroups(): readonly { readonly name: string; readonly cidrs: readonly string[] }[] {
  const per = PEERS / GROUPS;
  return Array.from({ length: GROUPS }, (_, group) => ({
    name: `large-${group}`,
    cidrs: Array.from({ length: per }, (_, index) => peer(group * per + index)),
  }));
}

function peer(index: number): string {
  const [high, low] = [(index >> 8) + 0x1000, (index & 255) + 0x1000];
  return `2001:db8:${high.toString(16)}:${low.toString(16)}:1111:2222:3333:4444/128`;
}

function ruleset(rules: number): Document {
  return document("ruleset", "large", {
    kind: "Ruleset",
    scope: { app: ["large"] },
    rules: Array.from({ length: rules }, (_, index) => ({
      name: `r${index}`,
      peers: Array.from({ length: GROUPS }, (_, group) => ({ addressGroup: `large-${group}` })),
      entries: [{ protocol: "tcp", ports: [String(1000 + index)] }],
    })),
  });
}
