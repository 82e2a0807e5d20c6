import { describe, expect, it } from "vitest";
import type { WorkloadView } from "../live/inventory-view.ts";
import { Out } from "../output/out.ts";
import { LiveScreen } from "./screen.ts";

const view = (id: string): WorkloadView => ({
  id,
  labels: [{ key: "env", value: "prod", source: "adapter" }],
  mode: "enforced",
  modeSource: "default",
  version: 1n,
  acked: 1n,
  state: "SYNCED",
  detail: "",
  addresses: [],
  services: [],
  outbounds: [],
  presence: "live",
  source: "adapter",
  namespace: "",
  attributes: {},
  agent: "",
  facts: {},
});

const WORKLOADS = Array.from({ length: 18 }, (_, index) => view(`web-${index}`));
const FOOTER = ["", "Try:", "  a", "  b", "  c"];

function screenOf(rows: number) {
  const written: string[] = [];
  const sink = { write: (text: string) => written.push(text), isTTY: true, columns: 80 };
  const out = new Out({
    stdout: sink,
    stderr: sink,
    json: false,
    colour: false,
    environment: {},
  });
  const screen = new LiveScreen(out, () => rows);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const last = () => (written.at(-1) ?? "").replace(/\u001b\[[?0-9;]*[A-Za-z]/g, "").trimEnd();
  return { screen, written, lines: () => last().split("\n") };
}

describe("LiveScreen", () => {
  it("shows everything where there is room", () => {
    const { screen, lines } = screenOf(60);
    screen.show({ title: "title", workloads: WORKLOADS, footer: FOOTER });
    screen.say("web-1 changed");
    expect(lines()).toHaveLength(2 + 19 + 3 + FOOTER.length);
    expect(lines().join("\n")).toContain("web-1 changed");
  });

  it.each([30, 25, 16, 8])("stays within %i rows, table first", (rows) => {
    const { screen, lines } = screenOf(rows);
    screen.show({ title: "title", workloads: WORKLOADS, footer: FOOTER });
    screen.say("web-1 changed");
    expect(lines().length).toBeLessThanOrEqual(Math.max(12, rows - 1));
    expect(lines()[2]).toContain("WORKLOAD");
  });

  it("draws over what it drew before, and only when something changed", () => {
    const { screen, written } = screenOf(60);
    const state = { title: "title", workloads: WORKLOADS, footer: [] };
    screen.show(state);
    screen.show(state);
    expect(written).toHaveLength(1);
    screen.show({ ...state, title: "other" });
    expect(written.at(-1)).toContain("\u001b[21A");
  });
});
