import {
  isLabelKey,
  isLabelValue,
  labelsVersion,
  matches,
  parseSelector,
  type SelectorSpec,
} from "@ringwall/labels";
import { bind, type Family } from "./family.ts";

interface Text {
  readonly text: string;
}

type Labels = Readonly<Record<string, string>>;

/** `labels.*`, bound to @ringwall/labels. */
export const labels: Family = {
  isKey: bind(({ text }: Text) => isLabelKey(text)),
  isValue: bind(({ text }: Text) => isLabelValue(text)),
  version: bind((input: { readonly labels: Labels }) => labelsVersion(input.labels)),
  matches: bind((input: { readonly selector: SelectorSpec | null; readonly labels: Labels }) =>
    matches(input.selector ?? undefined, input.labels),
  ),
  parseSelector: bind(({ text }: Text) => parseSelector(text)),
};
