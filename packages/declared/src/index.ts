export { MaskedText } from "./diff/masked-text.ts";
export { type DiffFile, unifiedDiff } from "./diff/unified-diff.ts";
export { DeclaredError, type DeclaredErrorCode } from "./errors.ts";
export { type Finding, type FindingCode, SECRET_CODES } from "./finding.ts";
export { type JsonFormat, jsonFormat } from "./json/json-format.ts";
export { LIMITS } from "./limits.ts";
export type { Os } from "./lints/names.ts";
export {
  ExcludedProviders,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  writeManifest,
} from "./manifest/manifest.ts";
export { environmentProblem, readTarget, type Target, writeTarget } from "./manifest/target.ts";
export { firstDifference } from "./plan/difference.ts";
export { type Ledger, readLedger, writeLedger } from "./plan/ledger.ts";
export {
  type Drift,
  isSame,
  type Plan,
  type PlanEntry,
  type PlanInput,
  type PlannedFile,
  type PlannedPut,
  type PlanStatus,
  plan,
} from "./plan/plan.ts";
export { isTagType, keepsLayers, type Profile } from "./profile/profile.ts";
export { IGNITION, PROFILES, RINGWALL } from "./profile/profiles.ts";
export { type Pulled, type PullInput, pull, type Skipped, type SkipReason } from "./pull/pull.ts";
export { generateManifest, inScope, type Scoped } from "./pull/scope.ts";
export { isKeepFile } from "./render/collect.ts";
export { layeredTree, type Rendered, type RenderInput, render } from "./render/render.ts";
export { Content } from "./tree/content.ts";
export { collectionPath, placeOf, repoPath, typeOf } from "./tree/mapping.ts";
export { compareBytes, isRelPath, relPathProblem, sortPaths } from "./tree/path.ts";
export {
  EMPTY_TREE,
  type Layer,
  type LiveTrees,
  orderedTree,
  type Tree,
  treeDigest,
  treeOf,
} from "./tree/tree.ts";
export { type Unit, unitKeys, unitsOf } from "./tree/units.ts";
export { mintUuid } from "./uuid/mint.ts";
