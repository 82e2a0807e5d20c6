import type { ControlPlane } from "./control-plane.ts";

/** Roles by workload of the small estate that the tests of this folder run. */
export const ROLES: Readonly<Record<string, string>> = {
  "web-1": "web",
  "web-2": "web",
  "db-1": "db",
};

/** Ids of its workloads. */
export const WORKLOADS: readonly string[] = Object.keys(ROLES);

/** Rules of the estate: web may reach db on one port. */
export function rules(port: number): string {
  return `kind: Ruleset
name: to-db
scope: role=db
rules:
  - name: web-queries
    peers: [{ workloads: role=web }]
    entries: [{ protocol: tcp, ports: ["${port}"] }]
---
kind: Inventory
name: everything
selector: app=shop
mode: enforced
`;
}

/** Admits the workloads, commits the first rules and waits until every agent has them. */
export async function settle(plane: ControlPlane): Promise<void> {
  for (const [id, role] of Object.entries(ROLES)) {
    await plane.must(["workload", "admit", id, "--namespace", "shop", "app=shop", `role=${role}`]);
  }
  await plane.must(["apply", "-f", "-", "--wait=60"], rules(5432));
  await plane.synced(WORKLOADS.length);
}
