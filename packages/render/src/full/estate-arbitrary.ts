import fc from "fast-check";
import type { Configuration, WorkloadSpec } from "../model.ts";

/** Random small estates in which selectors, names and addresses collide often. For tests. */

const value = fc.constantFrom("a", "b", "c");
const labels = fc.dictionary(fc.constantFrom("app", "env", "tier"), value, { maxKeys: 3 });
const selector = fc.dictionary(
  fc.constantFrom("app", "env", "tier"),
  fc.uniqueArray(value, { minLength: 0, maxLength: 2 }),
  { maxKeys: 2 },
);
const name = fc.constantFrom("n1", "n2", "n3", "n4");
const service = fc.constantFrom("s/a", "s/b", "s/c");
const port = fc.constantFrom("22", "80-90", "443", "0-65535");
const cidr = fc.constantFrom("10.0.0.0/8", "10.0.0.1/32", "fd00::/8", "192.0.2.77/24");

const entry = fc.record(
  {
    protocol: fc.constantFrom("tcp", "udp", "icmp"),
    ports: fc.array(port, { maxLength: 2 }),
  },
  { requiredKeys: ["protocol"] },
);

const peer = fc.oneof(
  fc.record({ workloads: selector }),
  fc.record({ addressGroup: name }),
  fc.record({ cidr }),
);

const rule = fc.record(
  {
    name: fc.string({ minLength: 1, maxLength: 3 }),
    enabled: fc.boolean(),
    peers: fc.array(peer, { maxLength: 3 }),
    services: fc.uniqueArray(name, { maxLength: 2 }),
    entries: fc.array(entry, { maxLength: 2 }),
  },
  { requiredKeys: ["name", "peers"] },
);

const ruleset = fc.record(
  {
    name,
    enabled: fc.boolean(),
    scope: selector,
    rules: fc.uniqueArray(rule, { maxLength: 3, selector: (each) => each.name }),
  },
  { requiredKeys: ["name", "scope", "rules"] },
);

const tagsOf = (key: fc.Arbitrary<string>) =>
  fc.record({ service: key, v: fc.constantFrom("1", "2") }, { requiredKeys: ["service"] });

const route = fc.record({
  namespace: fc.constantFrom("", "ns"),
  name,
  sources: fc.array(tagsOf(fc.constantFrom("s/a", "s/b", "*")), { minLength: 1, maxLength: 2 }),
  destinations: fc.array(fc.record({ service: fc.constantFrom("s/a", "s/b", "*") }), {
    minLength: 1,
    maxLength: 2,
  }),
  split: fc.array(fc.record({ weight: fc.constantFrom(0, 10, 90), tags: tagsOf(service) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

const unit = fc
  .record(
    {
      name,
      workload: fc.constantFrom("w1", "w2"),
      selector,
      labels,
      mode: fc.constantFrom("visibility" as const, "simulation" as const, "enforced" as const),
      outbounds: fc.uniqueArray(service, { maxLength: 2 }),
    },
    { requiredKeys: ["name"] },
  )
  .map(({ workload, selector: selecting, ...rest }) =>
    workload === undefined ? { ...rest, selector: selecting ?? {} } : { ...rest, workload },
  );

const unique = <T extends { name: string; namespace?: string }>(arbitrary: fc.Arbitrary<T>) =>
  fc.uniqueArray(arbitrary, {
    maxLength: 4,
    selector: (each) => `${each.namespace ?? ""}/${each.name}`,
  });

/** A configuration with unique names; it may refer to what does not exist. */
export const configurations: fc.Arbitrary<Configuration> = fc.record({
  rulesets: unique(ruleset),
  services: unique(fc.record({ name, entries: fc.array(entry, { maxLength: 2 }) })),
  addressGroups: unique(fc.record({ name, cidrs: fc.array(cidr, { maxLength: 2 }) })),
  routes: unique(route),
  inventory: unique(unit),
});

const row = fc
  .record({
    service,
    port: fc.constantFrom(80, 53),
    weight: fc.constantFrom(0, 1024),
    metadata: fc.dictionary(fc.constant("v"), fc.constantFrom("1", "2"), { maxKeys: 1 }),
    class: fc.constantFrom(0, 1, 2, 3),
  })
  .map(({ class: each, ...rest }) => ({
    ...rest,
    ports: [rest.port],
    portClasses: { [rest.port]: each },
  }));

/** Workloads with unique ids. */
export const workloadLists: fc.Arbitrary<WorkloadSpec[]> = fc.uniqueArray(
  fc.record({
    id: fc.constantFrom("w1", "w2", "w3", "w4", "w5", "w6"),
    labels,
    addresses: fc.uniqueArray(fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"), {
      maxLength: 2,
    }),
    rows: fc.array(row, { maxLength: 2 }),
    outbounds: fc.uniqueArray(service, { maxLength: 2 }),
    presence: fc.constantFrom(
      "live" as const,
      "stale" as const,
      "draining" as const,
      "expired" as const,
    ),
    enforced: fc.boolean(),
  }),
  { maxLength: 6, selector: ({ id }) => id },
);
