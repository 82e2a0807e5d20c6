import { readFileSync } from "node:fs";
import { Command } from "commander";
import { type CommandContext, withSession } from "../session.ts";

/** Version of the command: that of its package. */
export function commandVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const manifest: unknown = JSON.parse(text);
  const known = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return known ? String(manifest.version) : "unknown";
}

/** `ringwall version`. */
export function versionCommand(context: CommandContext): Command {
  return new Command("version")
    .description("Shows the version of the command.")
    .action((_options: unknown, command: Command) =>
      withSession(context, command, async ({ out }) => {
        const version = commandVersion();
        out.result({ version, node: process.versions.node }, () => [
          `ringwall ${version} (node ${process.versions.node})`,
        ]);
      }),
    );
}
