import { keepsLayers, layeredTree } from "@ringwall/declared";
import { Command } from "commander";
import { readDeclaredRepo } from "../declared/declared-repo.ts";
import { gatewayOption, profileNamed, profileOption } from "../declared/options.ts";
import { harmless } from "../output/paint.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { showWarnings } from "./commit-result.ts";

interface RenderOptions {
  readonly repo: string;
  readonly gateway?: string;
  readonly profile: string;
}

/** `ringwall render`: what a declared repo stands for, without looking at the live side. */
export function renderCommand(context: CommandContext): Command {
  return new Command("render")
    .summary("check a declared repo and list what it stands for")
    .description(
      "Renders a declared repo for one environment and lists the files that the live side would " +
        "hold.\nEvery finding is shown at once. Nothing is read from or written to the live side.",
    )
    .option("--repo <path>", "declared repo, with targets/ and gateways/", ".")
    .addOption(gatewayOption())
    .addOption(profileOption())
    .action((options: RenderOptions, command: Command) =>
      withSession(context, command, (session) => render(session, options)),
    );
}

async function render(session: Session, options: RenderOptions): Promise<void> {
  const { out } = session;
  const profile = profileNamed(options.profile);
  const repo = await readDeclaredRepo(session, profile, options);
  const { rendered, target } = repo;
  showWarnings(session, repo.warnings);
  const tree = keepsLayers(profile) ? layeredTree(rendered.layers) : rendered.tree;
  const files = [...tree].map(([path, content]) => ({
    path,
    sha256: content.sha256,
    bytes: content.size,
    source: rendered.sources.get(keepsLayers(profile) ? path : `environment/${path}`) ?? "",
  }));
  const document = {
    gateway: target.gateway,
    environment: target.environment,
    profile: profile.name,
    renderSha256: rendered.renderSha256,
    files,
    uuidsMinted: rendered.uuidsMinted,
    opaque: rendered.opaque,
    warnings: repo.warnings,
  };
  type Row = (typeof files)[number];
  out.result(document, () => [
    ...out.table<Row>(
      [
        { title: "FILE", cell: ({ path }) => harmless(path) },
        { title: "BYTES", cell: ({ bytes }) => `${bytes}`, align: "right" },
        { title: "SHA256", cell: ({ sha256 }) => sha256.slice(0, 12) },
        { title: "SOURCE", cell: ({ source }) => harmless(source), flexible: true },
      ],
      files,
    ),
    ...rendered.uuidsMinted.map((key) => out.paint.dim(harmless(`uuid minted for ${key}`))),
    ...rendered.opaque.map((path) =>
      out.paint.dim(harmless(`${path} is not in the gateway's layout and passes as it is`)),
    ),
    `${files.length} files, render ${rendered.renderSha256}`,
  ]);
}
