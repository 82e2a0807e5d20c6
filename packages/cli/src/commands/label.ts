import { isLabelKey, isLabelValue } from "@ringwall/labels";
import { Command } from "commander";
import { CliError } from "../errors.ts";
import { editUnit, newUnit, type OwnUnit, ownUnit, unitPut } from "../input/inventory-unit.ts";
import { type Estate, findWorkload, readEstate } from "../live/estate.ts";
import { readTexts } from "../live/tree.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { commitEdit, type EditOptions, reportEdit } from "./edit.ts";
import { authorOption, waitOption } from "./options.ts";

/** What `k=v` and `k-` arguments ask for. */
export interface LabelChanges {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** Reads `key=value` and `key-` arguments; all problems are reported at once. */
export function readLabelChanges(texts: readonly string[]): LabelChanges {
  const set: Record<string, string> = {};
  const remove: string[] = [];
  const problems: string[] = [];
  for (const text of texts) {
    const equals = text.indexOf("=");
    const key = equals < 0 ? text.replace(/-$/, "") : text.slice(0, equals);
    const value = equals < 0 ? undefined : text.slice(equals + 1);
    if (value === undefined && !text.endsWith("-")) {
      problems.push(`"${text}": write key=value to set, key- to take back`);
    } else if (!isLabelKey(key)) {
      problems.push(
        `"${key}" is no label key: 1 to 63 of [A-Za-z0-9._/-], first and last alphanumeric`,
      );
    } else if (value !== undefined && !isLabelValue(value)) {
      problems.push(
        `"${value}" is no value for ${key}: 1 to 63 of [A-Za-z0-9._-], first and last alphanumeric`,
      );
    } else if (key in set || remove.includes(key)) {
      problems.push(`${key} is named twice`);
    } else if (value === undefined) {
      remove.push(key);
    } else {
      set[key] = value;
    }
  }
  if (problems.length > 0) {
    throw new CliError("invalid", "labels out of grammar; nothing was written", {
      lines: problems,
      data: { problems },
    });
  }
  return { set, remove };
}

/** `ringwall label`: labels of one workload, set in its own inventory unit. */
export function labelCommand(context: CommandContext): Command {
  return new Command("label")
    .summary("set or take back labels of a workload")
    .description(
      "Sets labels of one workload by a commit to its own inventory unit, which wins over its " +
        "source and over selector units.\nkey- takes back what that unit says.",
    )
    .argument("<id>", "workload id")
    .argument("<changes...>", "key=value to set, key- to take back")
    .addOption(authorOption())
    .option("-m, --message <text>", "why, in the commit")
    .option("--dry-run", "only check")
    .addOption(waitOption())
    .action((id: string, changes: string[], options: EditOptions, command: Command) =>
      withSession(context, command, (session) => label(session, id, changes, options)),
    );
}

async function label(
  session: Session,
  id: string,
  texts: readonly string[],
  options: EditOptions,
): Promise<void> {
  const changes = readLabelChanges(texts);
  const message = options.message ?? `label ${id} ${texts.join(" ")}`;
  const edited = await commitEdit(session, { ...options, message }, async (operator) => {
    const estate = await readEstate(operator);
    findWorkload(estate, id);
    const unit = ownUnit(estate.tree, estate.configuration, id);
    checkRemovals(estate, unit, id, changes.remove);
    const text =
      unit.file === undefined
        ? newUnit(unit.name, id)
        : ((await readTexts(operator, [unit.file]))[0]?.text ?? "");
    const edit = { labels: changes.set, removeLabels: changes.remove };
    return { tree: estate.tree, puts: [unitPut(unit, editUnit(text, edit))] };
  });
  await reportEdit(session, edited, options, () => `labelled ${id} ${texts.join(" ")}`);
}

function checkRemovals(estate: Estate, unit: OwnUnit, id: string, remove: readonly string[]): void {
  const { labels, labelOrigins } = findWorkload(estate, id);
  const foreign = remove.filter((key) => unit.spec?.labels?.[key] === undefined);
  if (foreign.length === 0) return;
  const lines = foreign.map((key) => {
    const origin = labelOrigins[key];
    if (labels[key] === undefined || origin === undefined) return `${key} is not set`;
    return origin.kind === "inventory"
      ? `${key}=${labels[key]} comes from inventory unit ${origin.unit}`
      : `${key}=${labels[key]} comes from the workload's source`;
  });
  throw new CliError("refused", `${id}'s own unit does not set ${foreign.join(", ")}`, {
    lines,
    hint: "set another value with key=value, or change it where it comes from",
  });
}
