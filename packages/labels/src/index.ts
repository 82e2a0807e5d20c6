export { compareBytes } from "./byte-order.ts";
export { LabelsError, type LabelsErrorCode } from "./errors.ts";
export {
  isLabelKey,
  isLabelValue,
  isTagValue,
  LABEL_BYTES_MAX,
  LABELS_PER_WORKLOAD_MAX,
  type LabelProblem,
  labelProblems,
} from "./grammar.ts";
export { matches, type SelectorSpec } from "./selector.ts";
export { formatSelector, parseSelector } from "./selector-text.ts";
export { labelsVersion } from "./version.ts";
