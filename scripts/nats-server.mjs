// Provides a nats-server that is new enough. Plain JavaScript: it runs before anything is installed.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Oldest server that has everything the streams need (asynchronous persist mode, per-key TTL). */
export const OLDEST = [2, 12];

const RELEASE = "2.14.6";
const RELEASE_SHA256 = {
  x64: ["amd64", "61c3d55f69f61ec616b75782250936445f2819e9e5f2ae6159b10a31abd2200c"],
  arm64: ["arm64", "3ff6e463762db64186a36cf0276dae8320509e995151ad0153ba9c9f67eee3f9"],
};
const DOWNLOAD_TIMEOUT_MS = 20_000;

/** Version of a nats-server binary as [major, minor], or undefined if it can't be run. */
export function versionOf(binary) {
  const run = spawnSync(binary, ["--version"], { encoding: "utf8" });
  const match = /v(\d+)\.(\d+)\.\d+/.exec(run.stdout ?? "");
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

function newEnough(version) {
  if (version === undefined) return false;
  return version[0] > OLDEST[0] || (version[0] === OLDEST[0] && version[1] >= OLDEST[1]);
}

/**
 * Path of a nats-server >= 2.12: `$RINGWALL_NATS_SERVER`, PATH, `.tools/`, the pinned release
 * (checksum), or the newest Debian suite's package (signature checked by apt). Throws an Error that
 * says what was tried and what to do by hand.
 */
export async function provideNatsServer(root, say) {
  const tried = [];
  const named = process.env.RINGWALL_NATS_SERVER;
  if (named) {
    const version = versionOf(named);
    if (newEnough(version)) return named;
    throw new Error(
      `RINGWALL_NATS_SERVER names ${named}, which ${version ? `is ${version.join(".")}` : "does not run"}; ` +
        `it must be nats-server ${OLDEST.join(".")} or newer`,
    );
  }
  const onPath = versionOf("nats-server");
  if (newEnough(onPath)) return "nats-server";
  tried.push(`PATH: ${onPath ? `nats-server ${onPath.join(".")} is too old` : "no nats-server"}`);
  const target = join(root, ".tools", "nats-server");
  if (existsSync(target) && newEnough(versionOf(target))) return target;
  mkdirSync(join(root, ".tools"), { recursive: true });
  for (const source of [fromRelease, fromDebian]) {
    const scratch = mkdtempSync(join(root, ".tools", "fetch-"));
    try {
      say(`nats-server: ${source.label}`);
      const binary = await source(scratch);
      chmodSync(binary, 0o755);
      if (!newEnough(versionOf(binary)))
        throw new Error("the fetched binary is too old or does not run");
      copyFileSync(binary, `${target}.new`);
      chmodSync(`${target}.new`, 0o755);
      renameSync(`${target}.new`, target);
      return target;
    } catch (error) {
      tried.push(`${source.label}: ${error.message.split("\n")[0]}`);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  throw new Error(
    `no nats-server ${OLDEST.join(".")} or newer could be had:\n` +
      tried.map((line) => `  - ${line}`).join("\n") +
      "\nInstall one by hand (any release from the NATS project), put it on PATH, or name it in " +
      "RINGWALL_NATS_SERVER, and start again.",
  );
}

async function fromRelease(scratch) {
  const [arch, sha256] = RELEASE_SHA256[process.arch] ?? [];
  if (process.platform !== "linux" || arch === undefined) {
    throw new Error(`no pinned checksum for ${process.platform}/${process.arch}`);
  }
  const name = `nats-server-v${RELEASE}-linux-${arch}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${RELEASE}/${name}.tar.gz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) }).catch(
    (error) => {
      throw new Error(`can't be reached (${error.cause?.code ?? error.name})`);
    },
  );
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== sha256) throw new Error(`checksum is ${actual}, must be ${sha256}`);
  const archive = join(scratch, "release.tar.gz");
  writeFileSync(archive, bytes);
  execFileSync("tar", ["-xzf", archive, "-C", scratch]);
  return join(scratch, name, "nats-server");
}
fromRelease.label = `release ${RELEASE}`;

async function fromDebian(scratch) {
  if (!existsSync("/etc/debian_version")) throw new Error("this is not Debian");
  const { uri, signedBy } = machineArchive();
  const list = join(scratch, "suite.list");
  for (const folder of ["lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(scratch, folder), { recursive: true });
  }
  writeFileSync(
    list,
    `deb [${signedBy ? `signed-by=${signedBy}` : ""}] ${uri} sid main\n`.replace("[] ", ""),
  );
  const options = [
    ...["-o", `Dir::Etc::SourceList=${list}`, "-o", "Dir::Etc::SourceParts=-"],
    ...[
      "-o",
      `Dir::State::Lists=${join(scratch, "lists")}`,
      "-o",
      `Dir::Cache=${join(scratch, "cache")}`,
    ],
    ...[
      "-o",
      "APT::Sandbox::User=",
      "-o",
      "APT::Get::List-Cleanup=0",
      "-o",
      "Acquire::Languages=none",
    ],
  ];
  apt([...options, "update", "-qq"], scratch);
  apt([...options, "download", "-qq", "nats-server"], scratch);
  const packageFile = readdirSync(scratch).find((name) => name.endsWith(".deb"));
  if (packageFile === undefined) throw new Error("apt-get download left no package");
  execFileSync("dpkg", ["-x", join(scratch, packageFile), join(scratch, "unpacked")]);
  return join(scratch, "unpacked", "usr", "sbin", "nats-server");
}
fromDebian.label = "Debian's newest suite";

function apt(args, cwd) {
  const run = spawnSync("apt-get", args, { cwd, encoding: "utf8" });
  if (run.status !== 0) {
    const words = (run.stderr || run.error?.message || "").trim().split("\n").at(-1);
    throw new Error(`apt-get failed: ${words}`);
  }
}

// The archive that this machine already uses, with the key that it already trusts.
function machineArchive() {
  const folder = "/etc/apt/sources.list.d";
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  for (const file of [...files, "/etc/apt/sources.list"].filter(existsSync)) {
    const text = readFileSync(file, "utf8");
    const uri =
      /^URIs:\s*(\S+)/m.exec(text)?.[1] ?? /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/m.exec(text)?.[1];
    if (uri === undefined || !/debian\/?$/.test(uri)) continue;
    const signedBy =
      /^Signed-By:\s*(\/\S+)/m.exec(text)?.[1] ?? /signed-by=([^\]\s]+)/.exec(text)?.[1];
    return { uri, signedBy };
  }
  throw new Error("no Debian archive in the machine's apt configuration");
}
