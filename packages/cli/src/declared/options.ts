import { IGNITION, PROFILES, type Profile } from "@ringwall/declared";
import { type Command, Option } from "commander";
import { CliError } from "../errors.ts";

/** Options of every command that works on a declared repo. */
export interface RepoOptions {
  readonly repo: string;
  readonly gateway?: string;
  readonly profile: string;
  readonly dataDir?: string;
}

/** Options that let a change of the live side pass. */
export interface GateOptions {
  readonly planSha256?: string;
  readonly allowDestructive?: boolean;
  readonly allowDrift?: string;
}

/** Adds `--repo`, `--gateway`, `--profile` and `--data-dir`. */
export function addRepoOptions(command: Command): Command {
  return command
    .option("--repo <path>", "declared repo, with targets/ and gateways/", ".")
    .addOption(gatewayOption())
    .addOption(profileOption())
    .addOption(dataDirectoryOption());
}

/** `--gateway`. */
export function gatewayOption(): Option {
  return new Option("--gateway <name>", "folder below gateways/ (default: what the target says)");
}

/** `--profile`. */
export function profileOption(): Option {
  return new Option("--profile <name>", "what the live side is")
    .choices([...PROFILES.keys()])
    .default("ringwall");
}

/** `--data-dir`. */
export function dataDirectoryOption(): Option {
  return new Option("--data-dir <path>", "data directory of the gateway (profile ignition)");
}

/** Adds the options that let a change pass. */
export function addGateOptions(command: Command): Command {
  return command
    .option("--plan-sha256 <digest>", "only if the plan is still this one")
    .option("--allow-destructive", "also delete what is not declared any more")
    .option("--allow-drift <reason>", "also replace what someone changed live; why goes on record");
}

/** A profile with the place of its live side. */
export type ChosenProfile =
  | { readonly kind: "ringwall"; readonly profile: Profile }
  | { readonly kind: "ignition"; readonly profile: Profile; readonly dataDirectory: string };

/** Reads `--profile` and `--data-dir`. Throws CliError `usage` if they do not go together. */
export function chosenProfile(options: Pick<RepoOptions, "profile" | "dataDir">): ChosenProfile {
  const profile = profileNamed(options.profile);
  if (profile !== IGNITION) {
    if (options.dataDir !== undefined) {
      throw new CliError("usage", `--data-dir belongs to --profile ignition`);
    }
    return { kind: "ringwall", profile };
  }
  if (options.dataDir === undefined) {
    throw new CliError(
      "usage",
      "--profile ignition needs --data-dir, the gateway's data directory",
    );
  }
  return { kind: "ignition", profile, dataDirectory: options.dataDir.replace(/(.)\/+$/, "$1") };
}

/** The profile of a name. Throws CliError `usage` if there is none. */
export function profileNamed(name: string): Profile {
  const profile = PROFILES.get(name);
  if (profile !== undefined) return profile;
  throw new CliError("usage", `there is no profile "${name}"; there are ${[...PROFILES.keys()]}`);
}
