import type { Findings } from "../finding.ts";
import type { Os } from "../lints/names.ts";
import type { ExcludedProviders, Manifest } from "../manifest/manifest.ts";
import type { Profile } from "../profile/profile.ts";
import type { Content } from "../tree/content.ts";

/** A file of the declared tree with the place that it maps to. */
export interface Source {
  /** Path below the gateway's folder; findings name it. */
  readonly source: string;
  /** Path in the collection. */
  readonly path: string;
  readonly content: Content;
  /** True if a tag type stands below `resources/`. */
  readonly misplaced: boolean;
}

/** Sources by path in the collection, in byte order. */
export type Sources = ReadonlyMap<string, Source>;

/** What every stage of a render works with. */
export interface RenderContext {
  readonly profile: Profile;
  readonly manifest: Manifest;
  readonly gateway: string;
  readonly environment: string;
  readonly os: Os;
  readonly pathBudget: number;
  readonly excluded: ExcludedProviders;
  readonly findings: Findings;
}
