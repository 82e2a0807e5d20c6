import {
  ListWorkloadsRequestSchema,
  ListWorkloadsResponseSchema,
  type RefusedRow,
} from "@ringwall/wire";
import { Command } from "commander";
import { accepted } from "../../live/operator.ts";
import { type CommandContext, type Session, withSession } from "../../session.ts";

/** `ringwall get rows --refused`. */
export function getRowsCommand(context: CommandContext): Command {
  return new Command("rows")
    .summary("stored rows that are not used")
    .description(
      "Lists endpoint rows that are stored and that readers leave out, with the reason of each. " +
        "Rows in use: ringwall get endpoints.",
    )
    .requiredOption("--refused", "only rows that are not used")
    .action((_options: unknown, command: Command) => withSession(context, command, getRows));
}

async function getRows(session: Session): Promise<void> {
  const operator = await session.operator();
  const rows: RefusedRow[] = [];
  let after = "";
  let revision = 0n;
  for (;;) {
    const answer = accepted(
      "workload.list",
      await operator.call(
        "workload.list",
        ListWorkloadsRequestSchema,
        ListWorkloadsResponseSchema,
        { onlyRefused: true, after },
      ),
    );
    rows.push(...answer.refused);
    revision = answer.revision;
    const last = answer.workloads.at(-1);
    if (!answer.more || last === undefined) break;
    after = last.id;
  }
  const { out } = session;
  const shown = rows.map(({ workload, reason, row }) => ({
    workload,
    service: row?.service ?? "",
    reason,
  }));
  out.result({ revision, rows: shown }, () => [
    ...out.table(
      [
        { title: "WORKLOAD", cell: (each: (typeof shown)[number]) => each.workload },
        { title: "SERVICE", cell: (each) => each.service },
        { title: "REASON", cell: (each) => out.paint.red(each.reason) },
      ],
      shown,
    ),
    out.paint.dim(`${shown.length} rows are not used`),
  ]);
}
