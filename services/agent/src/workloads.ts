import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import {
  AgentError,
  type AlwaysAccept,
  type EstateWorkload,
  type InventoryParts,
  interfaceAddresses,
  isWorkloadId,
  parseAlwaysAccept,
  parseAnnotations,
  parseEstate,
} from "@ringwall/agent";

/** Values of the agent's own options by key. */
export type OwnValues = Readonly<Record<string, string>>;

/** One workload to run, with its directory and a way to read what it serves now. */
export interface RunWorkload {
  readonly workload: string;
  readonly stateDir: string;
  readonly inventory: () => Promise<InventoryParts>;
}

/**
 * The workloads of this process: those of the estate file, or the one that the flags name. Throws
 * AgentError for what is missing or malformed.
 */
export async function readWorkloads(values: OwnValues): Promise<readonly RunWorkload[]> {
  const { estate = "", workload = "", stateDir = "" } = values;
  if ((estate === "") === (workload === "")) {
    throw new AgentError("option-invalid", "give exactly one of --workload and --estate");
  }
  if (estate !== "") {
    return (await readEstate(estate)).map((entry) => ({
      workload: entry.workload,
      stateDir: entry.stateDir ?? join(stateDir, entry.workload),
      inventory: () => Promise.resolve(entry),
    }));
  }
  if (!isWorkloadId(workload)) {
    throw new AgentError("option-invalid", `--workload "${workload}" is not 1 to 64 of [a-z0-9_-]`);
  }
  return [{ workload, stateDir, inventory: () => readInventory(values) }];
}

/** Ports that stay open: the option names them, or a file that lists them. */
export async function readAlwaysAccept(text: string): Promise<readonly AlwaysAccept[]> {
  return parseAlwaysAccept(text.startsWith("/") || text.startsWith(".") ? await read(text) : text);
}

async function readEstate(path: string): Promise<readonly EstateWorkload[]> {
  const text = await read(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw new AgentError("estate-invalid", `${path} is not JSON: ${String(thrown)}`);
  }
  return parseEstate(value);
}

async function readInventory(values: OwnValues): Promise<InventoryParts> {
  const { annotations = "", addresses = "", services = "", outbounds = "" } = values;
  const given = list(addresses);
  return {
    addresses: given.length > 0 ? given : interfaceAddresses(networkInterfaces()),
    services: list(services),
    outbounds: list(outbounds),
    annotations: annotations === "" ? {} : parseAnnotations(await read(annotations)),
  };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    throw new AgentError("option-invalid", `${path} can't be read: ${String(thrown)}`);
  }
}

function list(text: string): readonly string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
