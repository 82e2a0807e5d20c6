export {
  DataDirectoryReader,
  type DataReading,
  type DataWrite,
  LEDGER_FILE,
  writeDataDirectory,
} from "./data-directory.ts";
export type { SwapStep } from "./folder-swap.ts";
export { type FolderReading, readFolder } from "./read-folder.ts";
export {
  holdsDeclared,
  type RepoReading,
  type RepoWrite,
  readRepo,
  readRepoManifest,
  readRepoTarget,
  writeRepo,
} from "./repo.ts";
