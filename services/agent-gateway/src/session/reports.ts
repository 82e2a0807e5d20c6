import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Names } from "@ringwall/bus";
import {
  type InventoryReport,
  ReportWorkloadRequestSchema,
  ReportWorkloadResponseSchema,
  WorkloadSource,
} from "@ringwall/wire";
import type { Outbox } from "../outbox.ts";
import type { Session } from "./session.ts";

const TAG = "report:";
const TIMEOUT_MS = 5000;
/** Reports that wait for the registrar's answer at the same time. */
const WINDOW = 256;
const RETRY_MS = 1000;
const RETRY_CAP_MS = 15_000;
/** Answers after which another attempt may end differently. */
const PASSING = new Set(["unavailable", "held", "conflict"]);

interface Report {
  readonly session: Session;
  readonly inventory: InventoryReport;
  attempts: number;
  retryAtMs: number;
}

/** Reports of agents on their way to the registrar: the latest of each, a bounded number at a time. */
export class Reports {
  readonly #out: Outbox;
  readonly #names: Names;
  readonly #waiting = new Map<string, Report>();
  readonly #open = new Map<string, Report>();
  /** Reports of workloads that the registry does not know: they are sent once it does. */
  readonly #unknown = new Map<string, Report>();

  constructor(out: Outbox, names: Names) {
    this.#out = out;
    this.#names = names;
  }

  /** Reports that are not answered yet. */
  get size(): number {
    return this.#waiting.size + this.#open.size;
  }

  /** Takes an agent's report; one of the same agent that still waits is replaced. */
  add(session: Session, inventory: InventoryReport): void {
    this.#unknown.delete(session.workload);
    this.#waiting.set(session.workload, { session, inventory, attempts: 0, retryAtMs: 0 });
  }

  /** The registry has a record of a workload: what its agent reported before is sent now. */
  known(workload: string): void {
    const report = this.#unknown.get(workload);
    if (report !== undefined) {
      this.add(report.session, report.inventory);
    }
  }

  /** Forgets what a session that has ended reported and was not sent. */
  forget(session: Session): void {
    if (this.#waiting.get(session.workload)?.session === session) {
      this.#waiting.delete(session.workload);
    }
    if (this.#unknown.get(session.workload)?.session === session) {
      this.#unknown.delete(session.workload);
    }
  }

  /** Sends what is due. */
  send(nowMs: number): void {
    for (const [workload, report] of this.#waiting) {
      if (this.#open.size >= WINDOW) {
        return;
      }
      if (nowMs >= report.retryAtMs && !this.#open.has(workload)) {
        this.#waiting.delete(workload);
        this.#open.set(workload, report);
        this.#request(workload, report);
      }
    }
  }

  /** Takes the registrar's answer; the session that it is about, if it still waits for one. */
  answered(tag: string, payload: Uint8Array, nowMs: number): Session | undefined {
    const report = this.#close(tag);
    if (report === undefined) {
      return undefined;
    }
    let code = "";
    let problem = "";
    try {
      const { error, problems } = fromBinary(ReportWorkloadResponseSchema, payload);
      const refusing = problems.find(({ refused }) => refused);
      code = error?.code ?? "";
      problem = error?.message ?? (refusing === undefined ? "" : refusing.message);
    } catch {
      code = "unavailable";
    }
    if (PASSING.has(code)) {
      this.#again(report, nowMs);
      return undefined;
    }
    if (code === "not_found" && report.session.slot >= 0) {
      this.#unknown.set(report.session.workload, report);
    }
    this.#out.count("ringwall_reports_total", { result: code === "" ? "stored" : "refused" });
    // An unknown workload has a state of its own.
    report.session.reportProblem =
      problem === "" || code === "not_found" ? "" : `report refused: ${problem}`;
    return report.session;
  }

  /** No answer came: it is sent again. */
  failed(tag: string, nowMs: number): void {
    const report = this.#close(tag);
    if (report !== undefined) {
      this.#again(report, nowMs);
    }
  }

  /** True if the tag is one of a report. */
  static isTag(tag: string): boolean {
    return tag.startsWith(TAG);
  }

  #request(workload: string, { session, inventory }: Report): void {
    const request = create(ReportWorkloadRequestSchema, {
      id: workload,
      source: WorkloadSource.AGENT,
      addresses: inventory.addresses,
      services: inventory.services,
      annotations: inventory.annotations,
      outbounds: inventory.outbounds,
      attributes: inventory.attributes,
      draining: inventory.draining,
      // An agent with a policy was known once: if it is not now, an operator has to say so.
      existingOnly: session.has.version > 0,
    });
    this.#out.fork({
      kind: "request",
      tag: `${TAG}${workload}`,
      subject: this.#names.api("workload", "report", session.partition),
      payload: toBinary(ReportWorkloadRequestSchema, request),
      timeoutMs: TIMEOUT_MS,
    });
  }

  #again(report: Report, nowMs: number): void {
    const { workload } = report.session;
    this.#out.count("ringwall_reports_total", { result: "retried" });
    if (!this.#waiting.has(workload) && report.session.slot >= 0) {
      report.attempts += 1;
      const waitMs = Math.min(RETRY_CAP_MS, RETRY_MS * 2 ** Math.min(report.attempts - 1, 10));
      report.retryAtMs = nowMs + waitMs;
      this.#waiting.set(workload, report);
    }
  }

  #close(tag: string): Report | undefined {
    const workload = tag.slice(TAG.length);
    const report = this.#open.get(workload);
    this.#open.delete(workload);
    return report;
  }
}
