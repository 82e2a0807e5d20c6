import { parseAnnotations } from "@ringwall/agent";
import { type Problem, strictCheck } from "@ringwall/endpointmeta";
import { Command } from "commander";
import { parse } from "yaml";
import { CliError, type FindingLine, messageOf } from "../errors.ts";
import { readEstateFile } from "../estate/read-estate.ts";
import { filesOf, type InputFile } from "../input/find-files.ts";
import { readStandardInput } from "../input/standard-input.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";
import { countFindings } from "./commit-result.ts";

/** Annotations of one workload and where they stand. */
interface Annotated {
  readonly file: string;
  readonly workload: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** `ringwall lint annotations`. */
export function lintCommand(context: CommandContext): Command {
  const lint = new Command("lint").description("Checks files without a control plane.");
  lint
    .command("annotations")
    .summary("strict check of endpoint annotations")
    .description(
      "Finds every problem of endpoint annotations at once. A file is a map of annotations (YAML, " +
        'JSON or key="value" lines), a Kubernetes object, or an estate; - is stdin.',
    )
    .argument("<paths...>", "files or directories, - for stdin")
    .action((paths: string[], _options: unknown, command: Command) =>
      withSession(context, command, (session) => lintAnnotations(session, paths)),
    );
  return lint;
}

async function lintAnnotations(session: Session, paths: readonly string[]): Promise<void> {
  const files: InputFile[] = [];
  for (const path of paths) {
    if (path === "-") files.push({ file: "stdin", bytes: await readStandardInput() });
    else files.push(...(await filesOf(path)));
  }
  const sets = files.flatMap(annotationsOf);
  const findings = sets.flatMap((set) => strictCheck(set.annotations).map((p) => finding(set, p)));
  if (findings.length > 0) {
    throw new CliError("invalid", countFindings(findings), { findings });
  }
  session.out.result({ files: files.length, workloads: sets.length, findings }, () => [
    `${sets.length} sets of annotations in ${files.length} files: nothing found`,
  ]);
}

function finding(set: Annotated, problem: Problem): FindingLine {
  const entry = problem.entry === "" ? "" : `[${problem.entry}]`;
  const prefix = set.workload === "" ? "" : `${set.workload}: `;
  return {
    file: set.file,
    line: 0,
    path: `${prefix}${problem.annotation}${entry}`,
    rule: problem.code,
    message: problem.message,
    warning: false,
  };
}

function annotationsOf(input: InputFile): Annotated[] {
  const { file } = input;
  const text = Buffer.from(input.bytes).toString("utf8");
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new CliError("invalid", `${file}: ${messageOf(error)}`);
  }
  if (typeof value === "string") return [{ file, workload: "", annotations: lines(file, text) }];
  if (!isRecord(value)) {
    throw new CliError("invalid", `${file}: holds no map of annotations`);
  }
  if (Array.isArray(value.workloads)) {
    return readEstateFile(text, file).map(({ id, annotations }) => ({
      file,
      workload: id,
      annotations,
    }));
  }
  const { metadata } = value;
  const nested = isRecord(metadata) ? metadata.annotations : undefined;
  return [{ file, workload: "", annotations: strings(file, nested ?? value) }];
}

function lines(file: string, text: string): Readonly<Record<string, string>> {
  try {
    return parseAnnotations(text);
  } catch (error) {
    throw new CliError("invalid", `${file}: ${messageOf(error)}`);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function strings(file: string, value: unknown): Readonly<Record<string, string>> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  const odd = entries.filter(([, entry]) => typeof entry !== "string").map(([key]) => key);
  if (!isRecord(value) || odd.length > 0) {
    throw new CliError(
      "invalid",
      `${file}: annotations are a map of text${odd.length > 0 ? `, not so: ${odd.join(", ")}` : ""}`,
      { hint: "write numbers in quotes" },
    );
  }
  return Object.fromEntries(entries.map(([key, entry]) => [key, String(entry)]));
}
