import { formatSelector, matches } from "@ringwall/labels";
import { type Configuration, readTree, type SelectorSpec } from "@ringwall/render";
import { CliError, type FindingLine } from "../errors.ts";
import type { Sources } from "../input/read-sources.ts";
import { type Estate, readEstate } from "../live/estate.ts";
import type { Operator } from "../live/operator.ts";

/** A selector and where it was written. */
interface Written {
  readonly unit: string;
  readonly path: string;
  readonly selector: SelectorSpec;
}

/**
 * Warnings for selectors of the applied documents that match no workload now: they may be right,
 * because workloads come and go, but a typing error looks the same. The commit stands already, so a
 * registry that does not answer is one more warning and no failure.
 */
export async function unmatchedSelectors(
  operator: Operator,
  sources: Sources,
): Promise<FindingLine[]> {
  let estate: Estate;
  try {
    estate = await readEstate(operator);
  } catch (error) {
    if (!(error instanceof CliError && error.code === "transport")) throw error;
    const message = `selectors were not compared with the registry: ${error.message}`;
    return [{ file: "registry", line: 0, path: "", rule: "unchecked", message, warning: true }];
  }
  const texts = sources.puts.map(({ layer, path, bytes }) => ({
    layer,
    path,
    text: Buffer.from(bytes).toString("utf8"),
  }));
  const origins = new Map(
    [...sources.origins].map(([key, origin]) => [key.slice(key.indexOf("/") + 1), origin]),
  );
  return selectorsOf(readTree(texts).configuration)
    .filter(({ selector }) => !estate.workloads.some(({ labels }) => matches(selector, labels)))
    .map(({ unit, path, selector }) => {
      const origin = origins.get(unit);
      return {
        file: origin?.file ?? unit,
        line: (origin?.lineOffset ?? 0) + (origin?.lines.get(path) ?? 1),
        path,
        rule: "selector-unmatched",
        message: `${formatSelector(selector)} matches no workload now`,
        warning: true,
      };
    });
}

function selectorsOf(configuration: Configuration): Written[] {
  const rulesets = configuration.rulesets.flatMap(({ name, scope, rules }) => {
    const unit = `policy/ruleset/${name}/ruleset.yaml`;
    const peers = rules.flatMap((rule, ruleAt) =>
      rule.peers.flatMap(({ workloads }, peerAt) =>
        workloads === undefined
          ? []
          : [{ unit, path: `rules[${ruleAt}].peers[${peerAt}].workloads`, selector: workloads }],
      ),
    );
    return [{ unit, path: "scope", selector: scope }, ...peers];
  });
  const inventory = configuration.inventory.flatMap(({ name, selector }) =>
    selector === undefined
      ? []
      : [{ unit: `policy/inventory/${name}/inventory.yaml`, path: "selector", selector }],
  );
  return [...rulesets, ...inventory];
}
