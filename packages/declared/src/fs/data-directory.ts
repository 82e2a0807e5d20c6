import { lstat } from "node:fs/promises";
import { DeclaredError } from "../errors.ts";
import { type Ledger, readLedger, writeLedger } from "../plan/ledger.ts";
import type { Plan } from "../plan/plan.ts";
import type { Content } from "../tree/content.ts";
import type { LiveTrees } from "../tree/tree.ts";
import { presentFolder, replaceFolder, type SwappedFolder, type SwapStep } from "./folder-swap.ts";
import { transportError } from "./fs-errors.ts";
import { folderFingerprint, readContentIfAny, readFolder } from "./read-folder.ts";

/** File at the root of an environment's collection that holds the ledger of what was applied. */
export const LEDGER_FILE = ".ringwall-ledger.json";

/** The configuration in a gateway's data directory at one moment. */
export interface DataReading {
  readonly live: LiveTrees;
  readonly ledger?: Ledger;
  /** Tells whether the environment's collection is still as it was read. */
  readonly fingerprint: string;
}

/** Reads a data directory. It has no way to write one. */
export class DataDirectoryReader {
  readonly #root: string;
  readonly #environment: string;

  constructor(dataDirectory: string, environment: string) {
    this.#root = dataDirectory;
    this.#environment = environment;
  }

  /**
   * Reads both collections and the ledger. Only a collection that is not there is empty; throws
   * DeclaredError `transport` for everything that can't be read, and `ledger` for a broken one.
   */
  async read(observe?: (files: number) => void): Promise<DataReading> {
    const resources = `${this.#root}/config/resources`;
    await checkFolder(resources);
    const options = observe === undefined ? {} : { observe };
    const core = await readFolder(`${resources}/core`, options);
    const place = await presentFolder(collectionFolder(this.#root, this.#environment));
    const environment = await readFolder(place, { ...options, leaveOut: isLedger });
    const ledger = readContentIfAny(`${place}/${LEDGER_FILE}`);
    return {
      live: { core: core.tree, environment: environment.tree },
      fingerprint: environment.fingerprint,
      ...(ledger === undefined ? {} : { ledger: readLedger(ledger) }),
    };
  }
}

function collectionFolder(root: string, environment: string): SwappedFolder {
  // The work is done outside of resources/, where the gateway would take it for a collection.
  return {
    target: `${root}/config/resources/${environment}`,
    beside: `${root}/config/.${environment}.ringwall`,
  };
}

const isLedger = (path: string) => path === LEDGER_FILE;

async function checkFolder(path: string): Promise<void> {
  let isFolder: boolean;
  try {
    isFolder = (await lstat(path)).isDirectory();
  } catch (error) {
    throw transportError(path, error);
  }
  if (!isFolder) throw new DeclaredError("transport", `${path} is not a folder`);
}

/** A plan to carry out on a data directory. */
export interface DataWrite {
  readonly plan: Plan;
  readonly ledger: Ledger;
  /** Of the reading that the plan was made from. */
  readonly fingerprint: string;
  readonly observe?: (step: SwapStep) => void;
}

/**
 * Carries out a plan on the environment's collection, staged, synced and swapped, the ledger in the
 * same swap. Throws DeclaredError `changed` when someone wrote there since it was read.
 */
export async function writeDataDirectory(
  dataDirectory: string,
  environment: string,
  { plan, ledger, fingerprint, observe }: DataWrite,
): Promise<void> {
  await checkFolder(`${dataDirectory}/config/resources`);
  const folder = collectionFolder(dataDirectory, environment);
  const files = new Map<string, Content>(plan.puts.map(({ path, content }) => [path, content]));
  files.set(LEDGER_FILE, writeLedger(ledger));
  const deletes = new Set(plan.deletes);
  await replaceFolder(folder, {
    files,
    leaveOut: (path) => deletes.has(path),
    check: () => {
      if (folderFingerprint(folder.target, { leaveOut: isLedger }) === fingerprint) return;
      const message = `${folder.target} changed since it was read; nothing was written, plan again`;
      throw new DeclaredError("changed", message);
    },
    ...(observe === undefined ? {} : { observe }),
  });
}
