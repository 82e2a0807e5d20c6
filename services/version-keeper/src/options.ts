import type { OwnOption } from "@ringwall/bus";
import { DEFAULT_OPTIONS, type KeeperOptions } from "./context.ts";

/** Help of each option of the version-keeper. */
const HELP: Readonly<Record<keyof KeeperOptions, string>> = {
  checkpointRecords: "records of a partition after which a checkpoint is due",
  checkpointMs: "time after which a checkpoint is due",
  checkpointLookMs: "how often it is looked for due checkpoints",
  trimAfterMs: "age below which VERSIONS is not trimmed",
  heldCheckMs: "how often the streams are checked for losses",
  wantFullMs: "first wait before a full batch is asked for again",
  catchUpMs: "how long a reader may lag before a request is given up",
  collectMs: "time between two rounds of content collection",
  collectAfterMs: "age that content must have before it is deleted",
  keepBodiesMs: "age up to which every body is kept",
};

const KEYS = Object.keys(HELP).filter((key): key is keyof KeeperOptions => key in DEFAULT_OPTIONS);

/** The version-keeper's own flags and environment variables. */
export const OWN_OPTIONS: readonly OwnOption[] = KEYS.map((key) => ({
  key,
  variable: `RINGWALL_KEEPER_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`,
  default: String(DEFAULT_OPTIONS[key]),
  help: HELP[key],
}));

/** Reads options from their texts; throws RangeError for one that is no whole number above 0. */
export function readOptions(texts: Readonly<Record<string, string>>): KeeperOptions {
  const options = { ...DEFAULT_OPTIONS };
  for (const key of KEYS) {
    const text = texts[key];
    if (text === undefined) {
      continue;
    }
    const value = Number(text);
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`option ${key} is "${text}"; it must be a whole number above 0`);
    }
    options[key] = value;
  }
  return options;
}
