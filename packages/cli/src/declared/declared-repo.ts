import { join } from "node:path";
import {
  type Content,
  type Manifest,
  type Profile,
  type Rendered,
  RINGWALL,
  render,
  type Target,
  type Tree,
} from "@ringwall/declared";
import { readRepo, readRepoTarget } from "@ringwall/declared/fs";
import { admitTree, PolicyTree } from "@ringwall/render";
import { countFindings } from "../commands/commit-result.ts";
import { CliError, type FindingLine } from "../errors.ts";
import type { Session } from "../session.ts";
import { asCliError } from "./failure.ts";
import { Progress } from "./progress.ts";

/** Where a declared tree stands. */
export interface RepoPlace {
  readonly root: string;
  readonly target: Target;
  /** Path of the gateway's folder as findings name it, with a slash at its end. */
  readonly folder: string;
}

/** A declared tree that renders. */
export interface DeclaredRepo extends RepoPlace {
  readonly profile: Profile;
  readonly manifest: Manifest;
  readonly tree: Tree;
  readonly rendered: Rendered;
  /** Findings that do not refuse. */
  readonly warnings: readonly FindingLine[];
}

/** The environment that was asked for. Throws CliError `usage` if there was none. */
export function wantedEnvironment(session: Session): string {
  const { environment } = session.globals;
  if (environment !== undefined) return environment;
  throw new CliError("usage", "no environment is named", {
    hint: "add --env, for example --env prod",
  });
}

/** Finds the gateway that serves an environment; undefined if the repo does not say. */
export async function placeInRepo(
  root: string,
  environment: string,
  gateway: string | undefined,
): Promise<RepoPlace | undefined> {
  const target = await asCliError("", () => readRepoTarget(root, environment));
  if (target === undefined) return undefined;
  if (gateway !== undefined && gateway !== target.gateway) {
    throw new CliError(
      "usage",
      `targets/${environment}.yaml names gateway "${target.gateway}", --gateway is "${gateway}"`,
    );
  }
  return { root, target, folder: folderOf(root, target.gateway) };
}

/** The gateway's folder as it is named to people. */
export function folderOf(root: string, gateway: string): string {
  return `${join(root, "gateways", gateway)}/`;
}

/** Reads and renders a declared repo; every finding is shown at once. Throws CliError `invalid`. */
export async function readDeclaredRepo(
  session: Session,
  profile: Profile,
  options: { readonly repo: string; readonly gateway?: string },
): Promise<DeclaredRepo> {
  const environment = wantedEnvironment(session);
  const place = await placeInRepo(options.repo, environment, options.gateway);
  if (place === undefined) {
    throw new CliError("usage", `${join(options.repo, "targets", environment)}.yaml is not there`, {
      hint: "name the repo with --repo; `ringwall pull --gateway G` begins one",
    });
  }
  const progress = new Progress(session);
  const { root, target, folder } = place;
  const { manifest, tree } = await asCliError(folder, () =>
    readRepo(root, target, (files) => progress.show("reading the repo", files)),
  );
  progress.clear();
  if (manifest === undefined) {
    throw new CliError("invalid", `${folder}manifest.yaml is not there`, {
      hint: "write one, or let `ringwall pull` make it",
    });
  }
  const rendered = await asCliError(folder, () =>
    render({ ...target, profile, manifest, environment, tree }),
  );
  const findings = profile === RINGWALL ? admitted(rendered, folder) : [];
  const refused = findings.filter(({ warning }) => !warning);
  if (refused.length > 0) {
    throw new CliError("invalid", `the tree is refused: ${countFindings(findings)}`, { findings });
  }
  return { ...place, profile, manifest, tree, rendered, warnings: findings };
}

/** Admits the documents as the control plane would. */
function admitted(rendered: Rendered, folder: string): FindingLine[] {
  const documents = new PolicyTree();
  for (const layer of ["core", "environment"] as const) {
    for (const [path, content] of rendered.layers[layer]) {
      documents.put(layer, path, content.text() ?? "");
    }
  }
  return admitTree(documents.effective()).map(({ file, line, path, rule, message, warning }) => {
    const source = file === undefined ? undefined : rendered.sources.get(file);
    return {
      file: source === undefined ? (file ?? "") : `${folder}${source}`,
      line: line ?? 0,
      path,
      rule,
      message,
      warning: warning === true,
    };
  });
}

/** Contents of trees by digest, so that what is known need not be read from the live side. */
export function contentsByDigest(...trees: readonly Tree[]): Map<string, Content> {
  const contents = new Map<string, Content>();
  for (const tree of trees) {
    for (const content of tree.values()) contents.set(content.sha256, content);
  }
  return contents;
}
