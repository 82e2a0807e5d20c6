import { Content, type LiveTrees, type Manifest, type Os, treeOf } from "@ringwall/declared";
import fc from "fast-check";
import {
  configByKeyName,
  configWithPasswordPath,
  gatewayJson,
  markerJson,
  resourceJson,
  secret,
} from "./json-texts.ts";

/** A live side with everything that a pull of it needs. */
export interface LiveSide {
  readonly live: LiveTrees;
  readonly os: Os;
  /** Absent: one is generated. */
  readonly manifest?: Manifest;
}

/** Files of one unit, by name in its folder. */
type Files = Readonly<Record<string, string | Uint8Array>>;

/** A unit, and the layers that hold it. */
interface Placed {
  readonly folder: string;
  readonly core?: Files;
  readonly environment?: Files;
}

const ODD_NAMES = ["mes", "Caf\u00e9", "Cafe\u0301", "CON", "a b", "x.", "z\u{1F600}", "\uff5e"];
const PLAIN_NAMES = ["MES", ...Array.from({ length: 8 }, (_, index) => `n${index}`)];

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PLAIN_NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_NAMES) },
);
const binary = fc.uint8Array({ maxLength: 12 }).map((bytes) => new Uint8Array([0, 255, ...bytes]));

/** Files that may stand beside a unit's own, most of them a reason to leave the unit out. */
const extras: fc.Arbitrary<Files> = fc.oneof(
  { weight: 24, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: fc.oneof(
      binary.map((bytes) => ({ "data.bin": bytes })),
      fc.constant({ "notes.txt": "plain\n", "empty.txt": "" }),
      fc.constant({ "sub/deep.bin": "x" }),
      fc.constant({ "notes.txt": "a\r\nb" }),
      fc.constant({ ".gitkeep": "" }),
      fc.constant({ ".DS_Store": "x" }),
      fc.constant({ "config-mode.json": "{}" }),
      fc.constant({ "Config.json": "{}" }),
      resourceJson.map((text) => ({ "sub/resource.json": text })),
    ),
  },
);

const some = (files: fc.Arbitrary<Files>): fc.Arbitrary<Files> =>
  fc.tuple(files, extras).map(([own, more]) => ({ ...own, ...more }));

const named: fc.Arbitrary<Files> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ "resource.json": resourceJson, "config.json": configByKeyName }),
  },
  { weight: 1, arbitrary: fc.record({ "config.json": configByKeyName }) },
  { weight: 1, arbitrary: fc.record({ "resource.json": resourceJson }) },
);

const withPassword: fc.Arbitrary<Files> = fc.record({
  "resource.json": resourceJson,
  "config.json": configWithPasswordPath,
});

const theme: fc.Arbitrary<Files> = fc.record({
  "resource.json": resourceJson,
  "index.css": fc.constantFrom("a{}", "b{color:red}\n", "c{}\r\n"),
});

const tagFolder: fc.Arbitrary<Files> = fc
  .record({
    members: fc.subarray(["tags.json", "udts.json"], { minLength: 1 }),
    text: configByKeyName,
    listed: fc.nat({ max: 12 }),
  })
  .map(({ members, text, listed }) => {
    const files = Object.fromEntries(members.map((member) => [member, text]));
    if (listed === 0) return files;
    return { ...files, "unary-resource.json": markerJson(listed === 1 ? ["x.json"] : members) };
  });

const provider = fc.constantFrom("default", "default", "plant", "System", "system");
const tagType = fc.constantFrom("tag-definition", "tag-type-definition");
const tagPath = fc
  .array(fc.constantFrom("A", "B", "a", "tags.json"), { maxLength: 2 })
  .map((parts) => parts.map((part) => `/${part}`).join(""));

interface Kind {
  readonly weight: number;
  readonly folder: fc.Arbitrary<string>;
  readonly files: fc.Arbitrary<Files>;
}

const below = (type: string) => name.map((each) => `${type}/${each}`);
const resource = fc.record({ "resource.json": resourceJson, "config.json": configByKeyName });

const IGNITION_KINDS: readonly Kind[] = [
  { weight: 5, folder: below("ignition/database-connection"), files: some(withPassword) },
  { weight: 3, folder: below("ignition/opc-connection"), files: some(named) },
  {
    weight: 2,
    folder: below("com.inductiveautomation.historian/historian-provider"),
    files: some(named),
  },
  { weight: 3, folder: below("com.inductiveautomation.perspective/themes"), files: some(theme) },
  { weight: 1, folder: below("ignition/store-and-forward-engine"), files: some(named) },
  { weight: 1, folder: fc.constant("ignition/system-properties"), files: some(resource) },
  {
    weight: 5,
    folder: fc
      .tuple(tagType, provider, tagPath)
      .map(([type, each, path]) => `ignition/${type}/${each}${path}`),
    files: tagFolder,
  },
  {
    weight: 1,
    folder: provider.map((each) => `ignition/tag-provider/${each}`),
    files: some(resource),
  },
  { weight: 1, folder: below("ignition/api-token"), files: resource },
  { weight: 1, folder: fc.constant("ignition/security-properties"), files: resource },
  { weight: 1, folder: below("com.acme.mod/thing"), files: some(named) },
  {
    weight: 1,
    folder: fc.constantFrom("ignition/tag-definition", "ignition/database-connection"),
    files: fc.constantFrom<Files>({ "stray.txt": "x" }, { ".gitkeep": "" }),
  },
  { weight: 1, folder: fc.constant("ignition"), files: fc.constant({ "config-mode.json": "{}" }) },
];

const DOCUMENTS = ["ruleset", "service", "address-group", "inventory", "alert-sink"];

const yaml = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      "kind: Ruleset\nname: a # kept\n",
      "a: 1\n",
      "",
      "\u00e9: \u{1F600}\n",
    ),
  },
  { weight: 1, arbitrary: fc.constant("b:\r\n  c\r\n") },
);

/** One document's folder, with what does not belong there now and then. */
const documentKinds: readonly Kind[] = [
  ...DOCUMENTS.map(
    (type): Kind => ({
      weight: 2,
      folder: below(`policy/${type}`),
      files: fc.oneof(
        { weight: 8, arbitrary: yaml.map((text) => ({ [`${type}.yaml`]: text })) },
        { weight: 1, arbitrary: yaml.map((text) => ({ "other.yaml": text })) },
        {
          weight: 1,
          arbitrary: secret.map((value) => ({
            [`${type}.yaml`]: "a: 1\n",
            "extra.json": gatewayJson({ password: value }),
          })),
        },
        { weight: 1, arbitrary: fc.constant<Files>({ [`${type}.yaml`]: "x", ".gitkeep": "" }) },
      ),
    }),
  ),
  {
    weight: 3,
    folder: fc
      .array(fc.constantFrom("shop", "Shop", "pay", "x"), { minLength: 1, maxLength: 3 })
      .map((parts) => `policy/traffic-route/${parts.join("/")}`),
    files: yaml.map((text) => ({ "traffic-route.yaml": text })),
  },
  {
    weight: 1,
    folder: below("policy/signing-key"),
    files: secret.map((value) => ({ "key.json": gatewayJson({ secret: value }) })),
  },
  { weight: 1, folder: below("other/thing"), files: fc.constant({ "thing.yaml": "x" }) },
];

/** A unit in core, in the environment, or in both: the same, with other files, or with fewer. */
function placed({ folder, files }: Kind): fc.Arbitrary<Placed> {
  const fewer = files.map((all) => Object.fromEntries(Object.entries(all).slice(1)));
  return fc.oneof(
    fc.record({ folder, core: files }),
    fc.record({ folder, environment: files }),
    fc.tuple(folder, files).map(([at, same]) => ({ folder: at, core: same, environment: same })),
    fc.record({ folder, core: files, environment: files }),
    fc.record({ folder, core: files, environment: fewer }),
  );
}

function liveTrees(units: readonly Placed[]): LiveTrees {
  const layer = (of: "core" | "environment") =>
    treeOf(
      units.flatMap((unit) =>
        Object.entries(unit[of] ?? {}).map(([file, content]): [string, Content] => [
          `${unit.folder}/${file}`,
          typeof content === "string" ? Content.ofText(content) : new Content(content),
        ]),
      ),
    );
  return { core: layer("core"), environment: layer("environment") };
}

/** A tree can't have a file where it has a folder; the file gives way, as on a disk. */
function possible({ core, environment }: LiveTrees): LiveTrees {
  const clean = (tree: LiveTrees["core"]) => {
    const folders = new Set<string>();
    for (const path of tree.keys()) {
      for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) {
        folders.add(path.slice(0, slash));
      }
    }
    return treeOf([...tree].filter(([path]) => !folders.has(path)));
  };
  return { core: clean(core), environment: clean(environment) };
}

function sides(kinds: readonly Kind[], manifest: fc.Arbitrary<Manifest>): fc.Arbitrary<LiveSide> {
  const unit = fc.oneof(...kinds.map((kind) => ({ weight: kind.weight, arbitrary: placed(kind) })));
  return fc
    .record({
      units: fc.array(unit, { maxLength: 12 }),
      os: fc.constantFrom<Os>("linux", "linux", "linux", "windows"),
      manifest: fc.option(manifest, { freq: 2 }),
    })
    .map(({ units, os, manifest: kept }) => ({
      live: possible(liveTrees(units)),
      os,
      ...(kept === null ? {} : { manifest: kept }),
    }));
}

const noProviders = { tagProviders: [], excludeTagProviders: [], readOnlyTagProviders: [] };

/** Live sides of an Ignition gateway. */
export const ignitionSides: fc.Arbitrary<LiveSide> = sides(
  IGNITION_KINDS,
  fc.record({
    types: fc.subarray([
      "ignition/database-connection",
      "ignition/opc-connection",
      "com.inductiveautomation.historian/historian-provider",
      "com.inductiveautomation.perspective/themes",
      "ignition/store-and-forward-engine",
      "ignition/system-properties",
      "ignition/tag-definition",
      "ignition/tag-type-definition",
      "ignition/tag-provider",
      "ignition/api-token",
      "com.acme.mod/thing",
    ]),
    tagProviders: fc.subarray(["default", "plant"]),
    excludeTagProviders: fc.constantFrom([], [], [], [], ["plant"]),
    readOnlyTagProviders: fc.constant([]),
  }),
);

/** Live sides of a control plane. */
export const ringwallSides: fc.Arbitrary<LiveSide> = sides(
  documentKinds,
  fc
    .subarray([
      ...DOCUMENTS.map((type) => `policy/${type}`),
      "policy/traffic-route",
      "policy/signing-key",
      "other/thing",
    ])
    .map((types) => ({ types, ...noProviders })),
);
