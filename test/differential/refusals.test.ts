import assert from "node:assert/strict";
import type { Configuration, SourceChange } from "@ringwall/render";
import { makeWorkload } from "@ringwall/testkit";
import { describe, expect, it } from "vitest";
import { EngineRun } from "./engine-run.ts";
import { renderedDigests } from "./expected.ts";
import { after, EMPTY_STATE, type SourceState } from "./source-state.ts";

/** An engine and the inputs that it was given, held against the full render at each flush. */
class Checked {
  readonly #run = new EngineRun();
  #state: SourceState = EMPTY_STATE;

  /** Applies changes; what the guarded workload has then: a digest or the reason of its refusal. */
  flush(changes: readonly SourceChange[]): string | undefined {
    this.#state = changes.reduce(after, this.#state);
    this.#run.apply(changes);
    this.#run.flush();
    const digests = renderedDigests(this.#state);
    this.#run.checkDigests(digests);
    return digests.get("guarded");
  }
}

/** Rulesets that protect one workload: so many rules, each letting in a list of groups. */
function configuration(rules: number, groups: readonly string[][]): SourceChange {
  const perRuleset = 1_000;
  const addressGroups = groups.map((cidrs, index) => ({ name: `group-${index}`, cidrs }));
  const rulesets = Array.from({ length: Math.ceil(rules / perRuleset) }, (_, ruleset) => ({
    name: `ruleset-${ruleset}`,
    scope: { guarded: ["yes"] },
    rules: Array.from(
      { length: Math.min(perRuleset, rules - ruleset * perRuleset) },
      (_, rule) => ({
        id: `${ruleset}-${rule}`,
        peers: addressGroups.map(({ name }) => ({ addressGroup: name })),
        entries: [{ protocol: "tcp", ports: ["80"] }],
      }),
    ),
  }));
  const whole: Configuration = { rulesets, addressGroups, services: [], routes: [], inventory: [] };
  return { kind: "configuration", configuration: whole };
}

const guarded: SourceChange = {
  kind: "workload",
  workload: { ...makeWorkload(0, { guarded: "yes" }), id: "guarded" },
};

function prefixes(count: number, text: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => text(index));
}

const v4 = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}/32`;
const v6 = (index: number) => `2001:db8:aaaa:bbbb:cccc:dddd:${index >> 16}:${index & 0xffff}/128`;

describe("limits of a policy", { timeout: 180_000 }, () => {
  it("refuses more peers than a rule may have, by one, and takes the refusal back", () => {
    const checked = new Checked();
    const first = prefixes(65_000, v4);
    const more = (count: number) => prefixes(count, (index) => v4(100_000 + index));
    expect(checked.flush([guarded, configuration(1, [first, more(536)])])).toMatch(
      /^[0-9a-f]{64}$/,
    );
    expect(checked.flush([configuration(1, [first, more(537)])])).toBe(
      "peersPerRule: 65537, allowed are 65536",
    );
    expect(checked.flush([configuration(1, [first, more(535)])])).toMatch(/^[0-9a-f]{64}$/);
  });

  it("refuses more peers than a policy may have", () => {
    const groups = [prefixes(50_000, v4)];
    expect(new Checked().flush([guarded, configuration(41, groups)])).toBe(
      "peersPerPolicy: 2050000, allowed are 2000000",
    );
  });

  it("refuses more bytes than a policy may have", () => {
    const reason = new Checked().flush([guarded, configuration(20, [prefixes(45_000, v6)])]);
    assert(reason !== undefined);
    expect(reason).toMatch(/^policyBytes: \d+, allowed are 33554432$/);
  });

  it("refuses more rules than a policy may have", () => {
    const checked = new Checked();
    expect(checked.flush([guarded, configuration(65_535, [["10.0.0.0/8"]])])).toBe(
      "rulesPerPolicy: 65535, allowed are 65534",
    );
  });
});
