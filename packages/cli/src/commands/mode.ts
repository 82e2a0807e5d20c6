import { LabelsError, matches, parseSelector } from "@ringwall/labels";
import type { EffectiveWorkload, ModeName, SelectorSpec } from "@ringwall/render";
import { Argument, Command, Option } from "commander";
import { CliError } from "../errors.ts";
import { editUnit, newUnit, ownUnit, unitPut } from "../input/inventory-unit.ts";
import { readEstate } from "../live/estate.ts";
import { readTexts } from "../live/tree.ts";
import { count } from "../output/count.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { commitEdit, type EditOptions, reportEdit } from "./edit.ts";
import { authorOption, readCount, waitOption } from "./options.ts";

interface ModeOptions extends EditOptions {
  readonly expect?: number;
}

/** Reads a selector or ends the command. */
export function readSelector(text: string): SelectorSpec {
  try {
    return parseSelector(text);
  } catch (error) {
    if (!(error instanceof LabelsError)) throw error;
    throw new CliError("usage", error.message, {
      hint: "write a selector such as 'app=web|api env=prod': every key, any of its values",
    });
  }
}

/** `ringwall mode`: the enforcement mode of every workload that a selector matches now. */
export function modeCommand(context: CommandContext): Command {
  return new Command("mode")
    .summary("set the enforcement mode of workloads")
    .description(
      "Sets the mode of every workload that the selector matches now, by one commit to their own " +
        "inventory units.\nWithout --expect it only says how many these are.",
    )
    .argument("<selector>", "labels, for example 'role=db|cache env=prod'")
    .addArgument(
      new Argument("<mode>", "what the hosts do").choices(["visibility", "simulation", "enforced"]),
    )
    .addOption(
      new Option(
        "--expect <count>",
        "number of workloads that you expect it to match; another number changes nothing",
      ).argParser(readCount),
    )
    .addOption(authorOption())
    .option("-m, --message <text>", "why, in the commit")
    .option("--dry-run", "only check")
    .addOption(waitOption())
    .action((selector: string, mode: ModeName, options: ModeOptions, command: Command) =>
      withSession(context, command, (session) => setMode(session, selector, mode, options)),
    );
}

async function setMode(
  session: Session,
  selectorText: string,
  mode: ModeName,
  options: ModeOptions,
): Promise<void> {
  const selector = readSelector(selectorText);
  const message = options.message ?? `mode '${selectorText}' ${mode}`;
  let matched: readonly string[] = [];
  const edited = await commitEdit(session, { ...options, message }, async (operator) => {
    const estate = await readEstate(operator);
    const chosen = estate.workloads.filter(({ labels }) => matches(selector, labels));
    checkExpected(chosen, options.expect, `ringwall mode '${selectorText}' ${mode}`);
    matched = chosen.map(({ workload }) => workload.id);
    const units = matched.map((id) => ownUnit(estate.tree, estate.configuration, id));
    const texts = await readTexts(
      operator,
      units.flatMap(({ file }) => (file === undefined ? [] : [file])),
    );
    const held = new Map(texts.map(({ layer, path, text }) => [`${layer}/${path}`, text]));
    const puts = units.map((unit, index) => {
      const text =
        held.get(`${unit.layer}/${unit.path}`) ?? newUnit(unit.name, matched[index] ?? "");
      return unitPut(unit, editUnit(text, { mode }));
    });
    return { tree: estate.tree, puts };
  });
  await reportEdit(
    session,
    edited,
    options,
    () => `set ${mode} on ${count(matched.length, "workload")} (${listed(matched)})`,
    { mode, workloads: matched },
  );
}

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, 8).join(", ");
  return ids.length > 8 ? `${shown} and ${ids.length - 8} more` : shown;
}

function checkExpected(
  chosen: readonly EffectiveWorkload[],
  expected: number | undefined,
  command: string,
): void {
  const ids = chosen.map(({ workload }) => workload.id);
  const data = { workloads: ids };
  if (expected === undefined) {
    throw new CliError("usage", `this matches ${count(ids.length, "workload")}; say so to go on`, {
      lines: ids,
      hint: `${command} --expect ${ids.length}`,
      data,
    });
  }
  if (expected !== ids.length) {
    throw new CliError(
      "refused",
      `${count(expected, "workload")} expected, ${ids.length} matched; nothing was written`,
      { lines: ids, hint: "look at the selector, or expect the other number", data },
    );
  }
  if (ids.length === 0) throw new CliError("refused", "the selector matches no workload");
}
