import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readRow } from "@ringwall/endpointmeta";
import { type Configuration, readTree, type WorkloadSpec } from "@ringwall/render";
import { CliError } from "../errors.ts";
import { readEstateFile } from "../estate/read-estate.ts";
import { filesOfRepo } from "../input/find-files.ts";

/** An example as rendering and explaining read it, straight from its files. */
export interface Example {
  readonly configuration: Configuration;
  readonly workloads: readonly WorkloadSpec[];
  /** Addresses with prefix length by workload. */
  readonly addresses: ReadonlyMap<string, readonly string[]>;
}

/** Reads an example's declared repo and its estate. Throws CliError for what is malformed. */
export async function readExample(directory: string, environment: string): Promise<Example> {
  const files = await filesOfRepo(directory, environment);
  const { configuration, findings } = readTree(
    files.map(({ file, bytes, layer = "core", path = file }) => ({
      layer,
      path,
      text: Buffer.from(bytes).toString("utf8"),
    })),
  );
  const [finding] = findings;
  if (finding !== undefined) {
    throw new CliError("invalid", `${directory}: ${finding.path}: ${finding.message}`);
  }
  const file = join(directory, "estate.yaml");
  const estate = readEstateFile(await readFile(file, "utf8"), file);
  return {
    configuration,
    workloads: estate.map(({ id, labels, addresses, services, annotations, outbounds }) => ({
      id,
      labels,
      addresses: addresses.map((address) => address.split("/")[0] ?? ""),
      rows: services.map((service) => readRow(service, annotations)),
      outbounds,
      presence: "live",
      enforced: false,
    })),
    addresses: new Map(estate.map(({ id, addresses }) => [id, addresses])),
  };
}
