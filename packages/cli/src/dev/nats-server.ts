import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { CliError, systemCode } from "../errors.ts";

const OLDEST = [2, 12] as const;

/** A nats-server that can be run. */
export interface NatsBinary {
  readonly path: string;
  readonly version: string;
}

/**
 * `$RINGWALL_NATS_SERVER`, else nats-server on PATH, else `.tools/nats-server` of the checkout; the
 * first that is 2.12 or newer. Throws CliError `usage` with what was tried.
 */
export function findNatsServer(
  root: string,
  environment: Readonly<Record<string, string | undefined>>,
): NatsBinary {
  const named = environment.RINGWALL_NATS_SERVER;
  const candidates =
    named === undefined || named === ""
      ? ["nats-server", join(root, ".tools", "nats-server")]
      : [named];
  const tried: string[] = [];
  for (const path of candidates) {
    if (path.includes("/") && !existsSync(path)) {
      tried.push(`${path}: is not there`);
      continue;
    }
    const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
    const [, version = "", major, minor] = /v((\d+)\.(\d+)[^\s]*)/.exec(stdout ?? "") ?? [];
    if (version === "") tried.push(`${path}: can't be run`);
    else if (isOlder(Number(major), Number(minor))) tried.push(`${path}: is ${version}`);
    else return { path, version };
  }
  throw new CliError("usage", `no nats-server ${OLDEST.join(".")} or newer was found`, {
    lines: tried,
    hint: "npm start provides one; or name yours in RINGWALL_NATS_SERVER",
  });
}

function isOlder(major: number, minor: number): boolean {
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** Ends the command if a port is taken or not allowed. */
export async function checkPort(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject);
      probe.listen(port, host, resolve);
    });
  } catch (error) {
    switch (systemCode(error)) {
      case "EADDRINUSE":
        throw new CliError("refused", `port ${port} is in use: another NATS, or another \`dev\``, {
          hint: `stop it, or choose another port: --port ${port + 1}`,
        });
      case "EACCES":
        throw new CliError("denied", `port ${port} needs more rights`, {
          hint: "choose one above 1023 with --port",
        });
      default:
        throw error;
    }
  }
  await new Promise((resolve) => probe.close(resolve));
}

/** Writes the server's configuration and gives its path. */
export async function writeNatsConfiguration(
  directory: string,
  options: { readonly host: string; readonly port: number; readonly storeDir: string },
): Promise<string> {
  const file = join(directory, "nats.conf");
  await writeFile(
    file,
    [
      `listen: "${options.host}:${options.port}"`,
      'server_name: "ringwall-dev"',
      // A process that stands still is cut off within 15 s, and is handed no more requests.
      'ping_interval: "5s"',
      "ping_max: 2",
      // An acknowledged write survives a power failure.
      `jetstream { store_dir: ${JSON.stringify(options.storeDir)}, sync_interval: always }`,
      "",
    ].join("\n"),
  );
  return file;
}
