/** Longest label key or value in bytes. */
export const LABEL_BYTES_MAX = 63;

/** Most labels of one workload. */
export const LABELS_PER_WORKLOAD_MAX = 64;

const KEY = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/**
 * True for a label key: 1 to 63 ASCII bytes of `[A-Za-z0-9._/-]` that begin and end with a letter
 * or digit. Case-sensitive, never trimmed.
 */
export function isLabelKey(text: string): boolean {
  return KEY.test(text);
}

/** True for a label value: as a key, but without `/`. */
export function isLabelValue(text: string): boolean {
  return VALUE.test(text);
}

/** True for the value of a route tag other than the service tag: a label value or `*`. */
export function isTagValue(text: string): boolean {
  return text === "*" || isLabelValue(text);
}

/** One fault of a label set. */
export interface LabelProblem {
  readonly code: "label-key" | "label-value" | "labels-limit";
  /** Offending key; empty for `labels-limit`. */
  readonly key: string;
  /** What is wrong, with the actual and the allowed value. */
  readonly message: string;
}

/**
 * Every fault of a workload's labels at once: keys and values outside the grammar, and more than
 * 64 labels. In the order of the set, the limit last; empty if there is none.
 */
export function labelProblems(labels: Readonly<Record<string, string>>): LabelProblem[] {
  const entries = Object.entries(labels);
  const problems = entries.flatMap(([key, value]) => entryProblems(key, value));
  if (entries.length > LABELS_PER_WORKLOAD_MAX) {
    problems.push({
      code: "labels-limit",
      key: "",
      message: `${entries.length} labels, at most ${LABELS_PER_WORKLOAD_MAX} are allowed`,
    });
  }
  return problems;
}

function entryProblems(key: string, value: string): LabelProblem[] {
  const problems: LabelProblem[] = [];
  if (!isLabelKey(key)) {
    const message = `label key ${JSON.stringify(key)} must be ${shape("._/-")}`;
    problems.push({ code: "label-key", key, message });
  }
  if (!isLabelValue(value)) {
    const message = `value ${JSON.stringify(value)} of label ${key} must be ${shape("._-")}`;
    problems.push({ code: "label-value", key, message });
  }
  return problems;
}

function shape(punctuation: string): string {
  return (
    `1 to ${LABEL_BYTES_MAX} of A-Z, a-z, 0-9 and ${punctuation}, ` +
    "beginning and ending with a letter or digit"
  );
}
