import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Cell,
  cellsOf,
  type Example,
  isDeclared,
  matrixText,
  Netlab,
  observe,
  readExample,
  type Target,
} from "@ringwall/cli/lab";
import {
  type Configuration,
  type EntrySpec,
  hasPorts,
  parsePorts,
  parseProtocol,
  renderAll,
} from "@ringwall/render";
import { Protocol } from "@ringwall/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { kernelSuite } from "./kernel-suite.ts";
import { Machine } from "./machine.ts";

const SHOP = fileURLToPath(new URL("../../examples/shop", import.meta.url));
/** A port that nothing in the shop speaks of. */
const UNHEARD = 54_321;

kernelSuite("the shop", () => {
  let lab: Netlab;
  let example: Example;
  let targets: readonly Target[];
  const machines = new Map<string, Machine>();

  beforeAll(async () => {
    example = await readExample(SHOP, "prod");
    targets = targetsOf(example);
    const ports = targets.flatMap(({ protocol, port }) =>
      protocol === "icmp" ? [] : [{ protocol, port }],
    );
    lab = await Netlab.open("m");
    for (const { id } of example.workloads) {
      const addresses = example.addresses.get(id) ?? [];
      machines.set(id, await Machine.add(lab, id, { addresses, ports }));
    }
  });

  afterAll(async () => {
    await Promise.all([...machines.values()].map((machine) => machine[Symbol.asyncDispose]()));
    await lab?.[Symbol.asyncDispose]();
  });

  it.each([
    ["as it is declared", "declared", (configuration: Configuration) => configuration],
    ["with every workload enforced", "enforced", enforceAll],
  ])(
    "lets through exactly what is declared, for every pair, port and protocol, %s",
    { timeout: 600_000 },
    async (_what, name, change) => {
      const configuration = change(example.configuration);
      const rendered = renderAll(configuration, example.workloads);
      for (const [id, outcome] of rendered) {
        if (!("policy" in outcome)) throw new Error(`${id} is refused`);
        await machines.get(id)?.enforce(outcome.policy);
      }
      const cells = cellsOf(example.workloads, () => targets);
      const declared = (cell: Cell) => isDeclared(configuration, example.workloads, cell);
      const wanted = matrixText(cells, declared);
      await expect(wanted).toMatchFileSnapshot(`shop/${name}.matrix.txt`);

      const peers = new Map([...machines].map(([id, { peer }]) => [id, peer]));
      // A port that was used before a policy came into force may be used again after it.
      await Promise.all([...machines.values()].map((machine) => machine.forgetFlows()));
      const outcomes = await observe(peers, cells);
      const observed = matrixText(cells, (cell) => outcomes.get(cell) === "open");
      const directory = join(tmpdir(), "ringwall-kernel");
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, `shop-${name}.observed.txt`), observed);
      expect(observed).toBe(wanted);
      const refused = cells.filter((cell) => outcomes.get(cell) === "refused");
      expect(refused).toEqual([]);
      process.stdout.write(`shop ${name}: ${cells.length} connections tried\n`);
    },
  );
});

/** All ports that rules, services and rows name, one that nobody does, and ICMP. */
function targetsOf({ configuration, workloads }: Example): readonly Target[] {
  const entries: readonly EntrySpec[] = [
    ...configuration.services.flatMap((service) => service.entries),
    ...configuration.rulesets.flatMap(({ rules }) => rules.flatMap((rule) => rule.entries ?? [])),
  ];
  const named = { tcp: new Set([UNHEARD]), udp: new Set([UNHEARD]) };
  for (const { protocol, ports = [] } of entries) {
    const known = parseProtocol(protocol) ?? Protocol.UNSPECIFIED;
    for (const span of hasPorts(known) ? ports.map(parsePorts) : []) {
      if (typeof span === "string") continue;
      for (const port of [span.start, span.end]) {
        named[known === Protocol.TCP ? "tcp" : "udp"].add(port);
      }
    }
  }
  for (const row of workloads.flatMap(({ rows }) => rows)) {
    for (const port of row.ports) named[row.portClasses[port] === 3 ? "udp" : "tcp"].add(port);
  }
  return [
    ...(["tcp", "udp"] as const).flatMap((protocol) =>
      [...named[protocol]].sort((a, b) => a - b).map((port) => ({ protocol, port })),
    ),
    { protocol: "icmp", port: 0 },
  ];
}

function enforceAll(configuration: Configuration): Configuration {
  return {
    ...configuration,
    inventory: [
      // A workload's own unit wins over a selector's.
      ...configuration.inventory.map((unit) => ({ ...unit, mode: "enforced" as const })),
      { name: "zz-all", selector: { app: ["shop"] }, mode: "enforced" },
    ],
  };
}
