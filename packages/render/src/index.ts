export { type AdmitOptions, admit, admitDocuments, admitTree } from "./admission/admit.ts";
export { findInUse } from "./admission/in-use.ts";
export { isWorkloadId } from "./admission/inventory.ts";
export { findUnmatchedSelectors } from "./admission/unmatched.ts";
export type {
  BodyChanges,
  BodyStep,
  ConfigurationEdits,
  Head,
  Progress,
  SourceChange,
} from "./body-source.ts";
export { containsCidr, isAddress, isCidr } from "./cidr.ts";
export {
  type AssembledConfiguration,
  assembleConfiguration,
  locateFindings,
} from "./documents/assemble.ts";
export {
  DOCUMENT_TYPES,
  type Document,
  type DocumentKind,
  isDocumentKind,
  nameOf,
  POLICY_MODULE,
  pathOf,
  readPath,
} from "./documents/document.ts";
export {
  type LayerName,
  PolicyTree,
  readTree,
  type TreeFile,
  type TreeReading,
} from "./documents/policy-tree.ts";
export {
  type DocumentReading,
  type DocumentsReading,
  type LocatedDocument,
  readDocument,
  readDocuments,
} from "./documents/read-document.ts";
export { Engine } from "./engine/engine.ts";
export type { EngineSizes } from "./engine/engine-sizes.ts";
export {
  type ConnectionExplanation,
  ExplainError,
  explainConnection,
  type Miss,
  type MissedCheck,
  type RuleVerdict,
} from "./explain/explain-connection.ts";
export { type Finding, type FindingRule, refuses, sortFindings } from "./finding.ts";
export { type Refusal, refusalText } from "./full/refusal.ts";
export {
  MODES,
  type Outcome,
  type Rendering,
  type RenderResult,
  renderAll,
  renderSteps,
} from "./full/render-steps.ts";
export {
  type EffectiveWorkload,
  effectiveWorkload,
  effectiveWorkloads,
  type InventoryIndex,
  indexInventory,
  type Origin,
} from "./inventory/effective.ts";
export { LIMITS, type LimitName } from "./limits.ts";
export type * from "./model.ts";
export { hasPorts, type PortProblem, type PortSpan, parsePorts, parseProtocol } from "./ports.ts";
export { authoredRuleId } from "./rule-id.ts";
