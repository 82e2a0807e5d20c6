import { namesFile, outboundName, type RoutePart, routeParts } from "@ringwall/agent";
import { Command } from "commander";
import { type CommandContext, type Session, withSession } from "../../session.ts";
import { addLocalOptions, type LocalOptions, storedRecord } from "./local.ts";

interface RoutesOptions extends LocalOptions {
  readonly hosts?: boolean;
}

/** `ringwall agent routes`. */
export function agentRoutesCommand(context: CommandContext): Command {
  const command = new Command("routes")
    .summary("where new connections to outbound services go")
    .option("--hosts", "print names and virtual addresses as a hosts file");
  return addLocalOptions(command).action((options: RoutesOptions, invoked: Command) =>
    withSession(context, invoked, (session) => routes(session, options)),
  );
}

async function routes({ out }: Session, options: RoutesOptions): Promise<void> {
  const { policy } = await storedRecord(options);
  if (options.hosts === true) {
    const text = namesFile(policy.outboundRoutes);
    out.result({ hosts: text }, () => text.trimEnd().split("\n"));
    return;
  }
  const parts = routeParts(policy.outboundRoutes);
  out.result(
    parts.map((part) => ({ ...part, name: outboundName(part.outbound) })),
    () =>
      parts.length === 0
        ? ["no outbound service leads anywhere"]
        : out.table(
            [
              { title: "SERVICE", cell: ({ outbound }: RoutePart) => outbound },
              { title: "ADDRESS", cell: ({ virtualAddress }) => virtualAddress },
              { title: "PORT", cell: ({ servicePort }) => servicePort },
              {
                title: "SHARE",
                cell: ({ share }) => `${(share * 100).toFixed(1)} %`,
                align: "right",
              },
              { title: "SPLIT", cell: ({ split }) => split, flexible: true },
              { title: "ENDPOINTS", cell: ({ endpoints }) => endpoints.join(" "), flexible: true },
            ],
            parts,
          ),
  );
}
