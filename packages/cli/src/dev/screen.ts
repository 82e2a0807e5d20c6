import { labelsOf, versionText } from "../commands/get/workloads.ts";
import type { WorkloadView } from "../live/inventory-view.ts";
import { labelText } from "../output/labels.ts";
import type { Out } from "../output/out.ts";
import { harmless } from "../output/paint.ts";
import { paintMode, paintState } from "../output/states.ts";
import { cut } from "../output/table.ts";

const UP = (lines: number) => (lines === 0 ? "" : `\u001b[${lines}A`);
const CLEAR_LINE = "\u001b[2K";
const CLEAR_BELOW = "\u001b[J";
const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";
const EVENTS_SHOWN = 5;
const SMALLEST_ROWS = 12;
const TITLE_LINES = 2;

/** What the screen shows. */
export interface ScreenState {
  readonly title: string;
  readonly workloads: readonly WorkloadView[];
  /** Lines below the table, for example commands to try. */
  readonly footer: readonly string[];
}

/** A picture that is drawn again in place; anything said meanwhile goes into its list of events. */
export class LiveScreen {
  readonly #out: Out;
  readonly #rows: () => number;
  #drawn = 0;
  #picture = "";
  #events: string[] = [];
  #last: ScreenState | undefined;

  constructor(out: Out, rows: () => number) {
    this.#out = out;
    this.#rows = rows;
  }

  /** Draws, over what was drawn before. */
  show(state: ScreenState): void {
    this.#last = state;
    const lines = this.#compose(state);
    const picture = lines.join("\n");
    if (picture === this.#picture) return;
    this.#picture = picture;
    const body = lines.map((line) => `${CLEAR_LINE}${line}\n`).join("");
    this.#out.raw(`${WRAP_OFF}${UP(this.#drawn)}\r${body}${CLEAR_BELOW}${WRAP_ON}`);
    this.#drawn = lines.length;
  }

  /** Adds a line to the events. */
  say(text: string): void {
    this.#events = [...this.#events, text].slice(-EVENTS_SHOWN);
    if (this.#last !== undefined) this.show(this.#last);
  }

  /** Leaves the picture standing and goes on below it. */
  close(): void {
    this.#drawn = 0;
    this.#picture = "";
    this.#last = undefined;
  }

  #compose({ title, workloads, footer }: ScreenState): string[] {
    const { paint } = this.#out;
    const rows = Math.max(SMALLEST_ROWS, this.#rows() - 1);
    const table = devTable(this.#out, workloads);
    const events =
      this.#events.length === 0
        ? []
        : ["", paint.dim("last changes"), ...this.#events.map((event) => `  ${event}`)];
    const around = [[...events, ...footer], [...footer], []].find(
      (below) => below.length + table.length + TITLE_LINES <= rows,
    );
    if (around !== undefined) return [title, "", ...table, ...around];
    const most = rows - TITLE_LINES - 1;
    const more = paint.dim(`… ${table.length - most} more: ringwall get workloads`);
    return [title, "", ...(table.length > most ? [...table.slice(0, most), more] : table)];
  }
}

/** The table of `ringwall dev`. */
export function devTable(out: Out, workloads: readonly WorkloadView[]): string[] {
  const { paint } = out;
  return out.table(
    [
      { title: "WORKLOAD", cell: (view: WorkloadView) => paint.bold(view.id) },
      { title: "LABELS", cell: (view) => labelText(labelsOf(view)), flexible: true },
      { title: "MODE", cell: (view) => paintMode(view.mode, paint) },
      { title: "VERSION", cell: versionText, align: "right" },
      { title: "STATE", cell: (view) => paintState(view.state, paint) },
      {
        title: "",
        cell: (view) => (view.state === "SYNCED" ? "" : cut(harmless(view.detail), 60)),
      },
    ],
    workloads,
  );
}
