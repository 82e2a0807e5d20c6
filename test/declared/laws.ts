import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  type Content,
  DeclaredError,
  inScope,
  keepsLayers,
  type LiveTrees,
  MANIFEST_FILE,
  type Plan,
  type Profile,
  type Pulled,
  plan,
  pull,
  readLedger,
  readManifest,
  render,
  type Tree,
  treeDigest,
  treeOf,
  unifiedDiff,
  writeLedger,
} from "@ringwall/declared";
import { SECRET } from "./json-texts.ts";
import type { LiveSide } from "./live-sides.ts";

const GATEWAY = "gw1";
const ENVIRONMENT = "prod";

/**
 * Pulls a live side and checks every law on the result:
 * rendering gives the effective live copy of every kept unit; a plan after it has no change and its
 * unmanaged units are exactly the skipped ones; a second pull gives the same bytes; applying the
 * plan to an emptied environment converges; no secret's value is anywhere.
 */
export function checkLaws(profile: Profile, side: LiveSide): void {
  let pulled: Pulled;
  try {
    pulled = pullSide(profile, side);
  } catch (error) {
    checkRefusal(error);
    return;
  }
  const scoped = inScope(side.live, { profile, manifest: pulled.manifest }).live;
  checkRendered(profile, side, pulled, scoped);
  checkPlan(profile, pulled, scoped);
  checkSecondPull(profile, side, pulled);
  checkApplied(profile, pulled, scoped);
  checkSecrecy(profile, side, pulled);
}

function pullSide(profile: Profile, { live, os, manifest }: LiveSide): Pulled {
  return pull({
    profile,
    gateway: GATEWAY,
    environment: ENVIRONMENT,
    os,
    live,
    ...(manifest === undefined ? {} : { manifest }),
  });
}

/** Only what concerns no unit may refuse a pull as a whole. */
function checkRefusal(error: unknown): void {
  assert(error instanceof DeclaredError, inspect(error));
  assert.equal(error.code, "deploy_tree_invalid", error.stack);
  assert.deepEqual(new Set(error.findings.map(({ path }) => path)), new Set([MANIFEST_FILE]));
  assert.doesNotMatch(inspect(error, { depth: Infinity }), SECRET);
}

function checkRendered(profile: Profile, side: LiveSide, pulled: Pulled, scoped: LiveTrees): void {
  const rendered = render({
    profile,
    manifest: pulled.manifest,
    gateway: GATEWAY,
    environment: ENVIRONMENT,
    os: side.os,
    tree: pulled.tree,
  });
  assert.equal(rendered.renderSha256, pulled.rendered.renderSha256);
  const skipped = new Set(pulled.skipped.map(({ path }) => path));
  const expected = new Map<string, Content>();
  for (const [key, files] of effectiveUnits(scoped)) {
    if (!skipped.has(key)) for (const [path, content] of files) expected.set(path, content);
  }
  assert.equal(treeDigest(rendered.tree), treeDigest(treeOf(expected)));
  assert.deepEqual(rendered.uuidsMinted, []);
}

/** Units of a layer, found by looking upwards from every file: the rule read plainly. */
function unitsPlainly(tree: Tree): Map<string, Map<string, Content>> {
  const units = new Map<string, Map<string, Content>>();
  for (const [path, content] of tree) {
    const parent = path.slice(0, path.lastIndexOf("/"));
    const parts = parent.split("/");
    let key = parent;
    for (let length = parts.length; length > 0; length -= 1) {
      const folder = parts.slice(0, length).join("/");
      if (tree.has(`${folder}/resource.json`) || tree.has(`${folder}/unary-resource.json`)) {
        key = folder;
        break;
      }
    }
    units.set(key, (units.get(key) ?? new Map<string, Content>()).set(path, content));
  }
  return units;
}

function effectiveUnits({ core, environment }: LiveTrees): Map<string, Map<string, Content>> {
  return new Map([...unitsPlainly(core), ...unitsPlainly(environment)]);
}

function planOf(
  profile: Profile,
  pulled: Pulled,
  live: LiveTrees,
  files?: readonly string[],
): Plan {
  return plan({
    profile,
    desired: pulled.rendered.layers,
    live,
    ...(files === undefined ? {} : { ledger: { files } }),
  });
}

function checkPlan(profile: Profile, pulled: Pulled, scoped: LiveTrees): void {
  const first = planOf(profile, pulled, scoped);
  assert.equal(first.hasChanges, false);
  assert.equal(first.destructive, false);
  assert.deepEqual([first.puts, first.deletes], [[], []]);
  const prefix = keepsLayers(profile) ? /^(?:core|environment)\// : /^/;
  const unmanaged = first.entries.filter(({ status }) => status === "unmanaged");
  const units = new Set(unmanaged.map(({ key }) => key.replace(prefix, "")));
  const skipped = pulled.skipped.filter(({ reason }) => !/^(?:denied|type_without)/.test(reason));
  assert.deepEqual(units, new Set(skipped.map(({ path }) => path)));
  const again = planOf(profile, pulled, scoped, first.owned);
  assert.equal(again.hasChanges, false);
  assert.equal(again.planSha256, first.planSha256);
}

function checkSecondPull(profile: Profile, side: LiveSide, pulled: Pulled): void {
  const text = pulled.tree.get(MANIFEST_FILE)?.text();
  const manifest = text === undefined ? pulled.manifest : readManifest(text);
  assert.deepEqual(manifest, pulled.manifest);
  const second = pullSide(profile, { ...side, manifest });
  const files = (tree: Tree) =>
    treeDigest(treeOf([...tree].filter(([path]) => path !== MANIFEST_FILE)));
  assert.equal(files(second.tree), files(pulled.tree));
}

/** Applies to an emptied owned side with one foreign file, and to the side as it is. */
function checkApplied(profile: Profile, pulled: Pulled, scoped: LiveTrees): void {
  const foreign = "ignition/database-connection/FOREIGN/config.json";
  const [, content] = [...scoped.core, ...scoped.environment][0] ?? [];
  if (content === undefined) return;
  const emptied: LiveTrees = {
    core: keepsLayers(profile) ? new Map() : scoped.core,
    environment: treeOf([[foreign, content]]),
  };
  const first = planOf(profile, pulled, emptied);
  const after = carriedOut(first, emptied);
  assert(after.environment.has(foreign), "a foreign file was deleted");
  const ledger = writeLedgerOf(first);
  const second = planOf(profile, pulled, after, ledger);
  assert.equal(second.hasChanges, false, inspect(second.entries, { depth: 4 }));
  const nothing = plan({
    profile,
    desired: { core: new Map(), environment: new Map() },
    live: after,
    ledger: { files: ledger },
  });
  assert(nothing.deletes.every((path) => ledger.includes(path)));
  const gone = carriedOut(nothing, after);
  assert(gone.environment.has(foreign), "a foreign file was deleted");
  assert.equal(gone.environment.size, 1);
}

/** The names through the ledger's own text where it may hold them: case twins it refuses. */
function writeLedgerOf({ owned, planSha256 }: Plan): readonly string[] {
  const ledger = {
    gateway: GATEWAY,
    mode: ENVIRONMENT,
    renderSha256: planSha256,
    runId: "r1",
    files: owned,
  };
  try {
    const read = readLedger(writeLedger(ledger));
    assert.deepEqual(read, ledger);
  } catch (error) {
    assert(error instanceof DeclaredError && error.code === "ledger", inspect(error));
    assert.match(error.message, /differ in case only/);
  }
  return owned;
}

function carriedOut({ puts, deletes }: Plan, live: LiveTrees): LiveTrees {
  const layers = { core: new Map(live.core), environment: new Map(live.environment) };
  for (const { layer, path, content } of puts) layers[layer].set(path, content);
  for (const name of deletes) {
    const [layer, path] = /^(core|environment)\/(.*)$/s.exec(name)?.slice(1) ?? [];
    if (layer === "core" && path !== undefined) layers.core.delete(path);
    else layers.environment.delete(path ?? name);
  }
  return { core: treeOf(layers.core), environment: treeOf(layers.environment) };
}

function checkSecrecy(profile: Profile, { live }: LiveSide, pulled: Pulled): void {
  for (const [path, content] of pulled.tree) {
    assert.doesNotMatch(Buffer.from(content.bytes).toString("latin1"), SECRET, path);
  }
  assert.doesNotMatch(inspect(pulled, { depth: Infinity, showHidden: true }), SECRET);
  assert.doesNotMatch(JSON.stringify([...pulled.tree, pulled]), SECRET);
  for (const [path, older] of [...live.core, ...live.environment]) {
    const shown = unifiedDiff(profile, { name: path, path, older });
    assert.doesNotMatch(shown.join("\n"), SECRET);
  }
}
