import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsServerBinary } from "@ringwall/testkit";

/** What a real nats-server says against the configuration, with a user that enrol-node.sh printed. */
export function checkNatsConf(folder: string): string[] {
  const home = mkdtempSync(join(tmpdir(), "ringwall-nats-conf-"));
  try {
    const enrol = spawnSync("sh", [join(folder, "enrol-node.sh"), "node-1.example"], {
      encoding: "utf8",
    });
    if (enrol.status !== 0) return [`enrol-node.sh: ${enrol.stderr.trim()}`];
    mkdirSync(join(home, "users"));
    const control = "  { user: control, password: $RINGWALL_CONTROL_PASSWORD }";
    writeFileSync(join(home, "users", "users.conf"), `users = [\n${control}\n${enrol.stdout}]\n`);
    const conf = readFileSync(join(folder, "nats.conf"), "utf8").replace(
      "/data",
      join(home, "data"),
    );
    writeFileSync(join(home, "nats.conf"), conf);
    const route = (index: number) => `nats-route://route:abc@nats-${index}.nats-peers:6222`;
    const test = spawnSync(natsServerBinary(), ["-t", "-c", join(home, "nats.conf")], {
      encoding: "utf8",
      env: {
        ...process.env,
        NATS_NAME: "nats-0",
        RINGWALL_CONTROL_PASSWORD: "abc",
        RINGWALL_ROUTE_PASSWORD: "abc",
        NATS_ROUTE_0: route(0),
        NATS_ROUTE_1: route(1),
        NATS_ROUTE_2: route(2),
      },
    });
    return test.status === 0 ? [] : [`nats.conf: ${(test.stderr || test.stdout).trim()}`];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
