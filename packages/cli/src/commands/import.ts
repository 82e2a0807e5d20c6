import { partitionOf } from "@ringwall/bus/client";
import { type KubernetesProblem, kubernetesReports } from "@ringwall/sources";
import {
  DeregisterWorkloadRequestSchema,
  DeregisterWorkloadResponseSchema,
  type ReportWorkloadRequest,
  ReportWorkloadRequestSchema,
  type ReportWorkloadResponse,
  ReportWorkloadResponseSchema,
  WorkloadSource,
} from "@ringwall/wire";
import { Command } from "commander";
import { CliError, type FindingLine, messageOf } from "../errors.ts";
import { readInput } from "../input/read-input.ts";
import { readStandardInput } from "../input/standard-input.ts";
import { mapParallel } from "../live/blobs.ts";
import { accepted, type Operator } from "../live/operator.ts";
import { listWorkloads } from "../live/registry.ts";
import { type CommandContext, type Session, withSession } from "../session.ts";

/** Largest file of a cluster in bytes: about 20,000 pods as kubectl prints them. */
const CLUSTER_LIMIT_BYTES = 256 * 1024 * 1024;

const MAKE_ONE = "write it with: kubectl get pods,svc -A -o json";

interface ImportOptions {
  readonly file: readonly string[];
  readonly strict?: true;
  readonly prune?: true;
  readonly dryRun?: true;
}

interface Imported {
  readonly workloads: number;
  readonly changed: number;
  readonly removed: readonly string[];
  readonly findings: readonly FindingLine[];
}

/** `ringwall import kubernetes`. */
export function importCommand(context: CommandContext): Command {
  const command = new Command("import").description("Takes workloads over from elsewhere.");
  command
    .command("kubernetes")
    .summary("register the pods of a file")
    .description(
      "Registers the running pods of a file, as `kubectl get pods,svc -A -o json` prints it, with " +
        "the services that select them. Labels, addresses, ports and readiness are read as the " +
        "registrar reads them from a cluster that it watches.",
    )
    .requiredOption("-f, --file <file...>", "JSON of pods and services, - for stdin")
    .option("--strict", "refuse pods whose endpoint annotations have problems")
    .option("--prune", "remove pods that the registry has and the files do not")
    .option("--dry-run", "show what would be registered, change nothing")
    .action((options: ImportOptions, self: Command) =>
      withSession(context, self, (session) => importKubernetes(session, options)),
    );
  return command;
}

async function importKubernetes(session: Session, options: ImportOptions): Promise<void> {
  const documents = await Promise.all(options.file.map(readDocument));
  const { reports, problems } = kubernetesReports(
    { kind: "List", items: documents },
    { strict: options.strict ?? false },
  );
  const findings = problems.map(problemFinding);
  if (options.prune) demandWhole(reports.length, problems);
  if (options.dryRun) {
    const shown = reports.map(({ id, services, addresses }) => ({ id, services, addresses }));
    session.out.result({ workloads: shown, findings }, () => [
      ...reports.map((report) => `${report.id}  ${report.services.join(" ")}`),
      `${reports.length} workloads would be registered`,
    ]);
    return;
  }
  const operator = await session.operator();
  const answers = await mapParallel(reports, (report) => register(operator, report));
  const imported: Imported = {
    workloads: reports.length,
    changed: answers.filter(({ changed }) => changed).length,
    removed: options.prune ? await prune(operator, reports) : [],
    findings: [
      ...findings,
      ...answers.flatMap((answer, index) => answerFindings(reports[index], answer)),
    ],
  };
  finish(session, imported);
}

/**
 * What is missing from a file that could not be read whole has not left the cluster, so nothing is
 * removed because of it. Throws CliError `refused`.
 */
function demandWhole(pods: number, problems: readonly KubernetesProblem[]): void {
  const unread = problems.filter(({ code }) => code !== "labels-dropped");
  if (pods > 0 && unread.length === 0) return;
  const why =
    unread.length > 0
      ? `${unread.length} objects of the files can't be read`
      : "the files hold no running pod";
  throw new CliError("refused", `${why}, so --prune would remove what may still run`, {
    findings: unread.map(problemFinding),
    hint: "import a whole list, or remove single pods with ringwall workload deregister",
  });
}

function finish({ out }: Session, imported: Imported): void {
  const refused = imported.findings.filter((finding) => !finding.warning);
  const summary =
    `${imported.workloads} workloads, ${imported.changed} changed, ` +
    `${imported.removed.length} removed`;
  if (refused.length > 0) {
    throw new CliError("invalid", `${summary}; ${refused.length} problems refused something`, {
      findings: imported.findings,
      data: { ...imported },
    });
  }
  for (const { path, message } of imported.findings) out.warn(`${path}: ${message}`);
  out.result(imported, () => [summary]);
}

async function readDocument(file: string): Promise<unknown> {
  const bytes =
    file === "-"
      ? await readStandardInput(CLUSTER_LIMIT_BYTES)
      : await readInput(file, CLUSTER_LIMIT_BYTES);
  let document: unknown;
  try {
    document = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw new CliError("invalid", `${file}: no JSON: ${messageOf(error)}`, { hint: MAKE_ONE });
  }
  if (typeof document === "object" && document !== null) {
    if ("kind" in document || "items" in document) return document;
  }
  throw new CliError("invalid", `${file}: no Kubernetes object or list: it has no "kind"`, {
    hint: MAKE_ONE,
  });
}

function register(
  operator: Operator,
  report: ReportWorkloadRequest,
): Promise<ReportWorkloadResponse> {
  return operator.call(
    "workload.report",
    ReportWorkloadRequestSchema,
    ReportWorkloadResponseSchema,
    report,
    { partition: partitionOf(report.id) },
  );
}

async function prune(
  operator: Operator,
  reports: readonly ReportWorkloadRequest[],
): Promise<readonly string[]> {
  const present = new Set(reports.map(({ id }) => id));
  const { workloads } = await listWorkloads(operator);
  const gone = workloads
    .filter(({ source, id }) => source === WorkloadSource.KUBERNETES && !present.has(id))
    .map(({ id }) => id);
  await mapParallel(gone, async (id) =>
    accepted(
      "workload.deregister",
      await operator.call(
        "workload.deregister",
        DeregisterWorkloadRequestSchema,
        DeregisterWorkloadResponseSchema,
        { id },
        { partition: partitionOf(id) },
      ),
    ),
  );
  return gone;
}

function problemFinding({ object, code, message }: KubernetesProblem): FindingLine {
  return { file: "", line: 0, path: object, rule: code, message, warning: true };
}

function answerFindings(
  report: ReportWorkloadRequest | undefined,
  { error, problems }: ReportWorkloadResponse,
): FindingLine[] {
  const id = report?.id ?? "";
  const lines = problems.map(({ service, code, message, refused }) => ({
    file: "",
    line: 0,
    path: service === "" ? id : `${id}: ${service}`,
    rule: code,
    message,
    warning: !refused,
  }));
  return error === undefined
    ? lines
    : [
        { file: "", line: 0, path: id, rule: error.code, message: error.message, warning: false },
        ...lines,
      ];
}
