import {
  inScope,
  keepsLayers,
  type Ledger,
  type LiveTrees,
  type Plan,
  plan,
  type Scoped,
  typeOf,
} from "@ringwall/declared";
import { CliError } from "../errors.ts";
import type { Session } from "../session.ts";
import { contentsByDigest, type DeclaredRepo, readDeclaredRepo } from "./declared-repo.ts";
import {
  digestsOf,
  type LastApply,
  type LiveReading,
  readLastApply,
  readLive,
} from "./live-reading.ts";
import type { ChosenProfile } from "./options.ts";

/** A plan with everything that it was made from. */
export interface Planned {
  readonly repo: DeclaredRepo;
  readonly reading: LiveReading;
  readonly scope: Scoped;
  readonly plan: Plan;
  /** The last time a declared tree was applied to the control plane. */
  readonly lastApply?: LastApply;
  /** Files of the ledger that the manifest does not cover any more: they stay live and owned. */
  readonly ownedOutOfScope: readonly string[];
}

/** What a plan compares with besides the live side. */
export interface PlanOptions {
  /** A repo whose render is the base that drift is measured from. */
  readonly base?: string;
}

/** Reads the live side and compares it with a declared repo. */
export async function makePlan(
  session: Session,
  chosen: ChosenProfile,
  repo: DeclaredRepo,
  options: PlanOptions,
): Promise<Planned> {
  const { profile, target, manifest, rendered } = repo;
  const { layers } = rendered;
  const known = contentsByDigest(layers.core, layers.environment);
  const reading = await readLive(session, chosen, target.environment, known);
  checkLedger(reading.ledger, repo);
  const scope = inScope(reading.live, {
    profile,
    manifest,
    excludeTagProviders: target.excludeTagProviders,
  });
  const lastApply =
    reading.config === undefined
      ? undefined
      : await readLastApply(await session.operator(), reading.ledger);
  const base =
    options.base === undefined ? lastApply?.files : await readBase(session, repo, options.base);
  return {
    repo,
    reading,
    scope,
    plan: plan({
      profile,
      desired: layers,
      live: scope.live,
      ...(reading.ledger === undefined ? {} : { ledger: reading.ledger }),
      ...(base === undefined ? {} : { base }),
    }),
    ...(lastApply === undefined ? {} : { lastApply }),
    ownedOutOfScope: outOfScope(reading.ledger, reading.live, scope.live, keepsLayers(profile)),
  };
}

async function readBase(session: Session, { profile, target }: DeclaredRepo, root: string) {
  const options = { repo: root, gateway: target.gateway };
  const base = await readDeclaredRepo(session, profile, options);
  return digestsOf(base.rendered.layers, keepsLayers(profile));
}

function checkLedger(ledger: Ledger | undefined, { target }: DeclaredRepo): void {
  if (ledger === undefined) return;
  const { gateway, environment } = target;
  if (ledger.gateway === gateway && ledger.mode === environment) return;
  throw new CliError(
    "refused",
    `what is live was applied for gateway "${ledger.gateway}" and environment "${ledger.mode}", ` +
      `not for "${gateway}" and "${environment}"`,
    { hint: "use the repo and environment that it was applied from" },
  );
}

function outOfScope(
  ledger: Ledger | undefined,
  live: LiveTrees,
  scoped: LiveTrees,
  layered: boolean,
): string[] {
  return (ledger?.files ?? []).filter((name) => {
    const slash = layered ? name.indexOf("/") : -1;
    const layer = layered && name.slice(0, slash) === "core" ? "core" : "environment";
    const path = name.slice(slash + 1);
    return typeOf(path) !== undefined && live[layer].has(path) && !scoped[layer].has(path);
  });
}
