/**
 * `pnpm picture` runs the development control plane in a pseudo-terminal (`script` of util-linux) and
 * draws what it ends with as docs/images/npm-start.svg.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@ringwall/testkit";
import { MAIN, ROOT } from "../telemetry/paths.ts";
import { type Cell, Terminal } from "./terminal.ts";

const run = promisify(execFile);
const COLUMNS = 104;
const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const PADDING = 18;
const TITLE_HEIGHT = 34;
const COLOURS = ["#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5"];
const TEXT = "#cdd6f4";

const state = await mkdtemp(join(tmpdir(), "ringwall-picture-"));
try {
  const port = await freePort();
  const flags = `--port ${port} --state-dir ${state} --fresh --exit-when-synced`;
  const command = `stty cols ${COLUMNS} rows 48; exec ${process.execPath} ${MAIN} dev ${flags}`;
  const { stdout } = await run("script", ["-qec", command, "/dev/null"], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "xterm-256color" },
    maxBuffer: 64 * 1024 * 1024,
  });
  const terminal = new Terminal();
  terminal.write(stdout);
  const svg = draw(shown(terminal.lines));
  await mkdir(join(ROOT, "docs", "images"), { recursive: true });
  await writeFile(join(ROOT, "docs", "images", "npm-start.svg"), svg);
} finally {
  await rm(state, { recursive: true, force: true });
}

/** What stands on the screen once every workload is SYNCED, without the directory of this run. */
function shown(lines: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  const texts = lines.map((line) => line.map(({ text }) => text).join(""));
  const last = texts.findLastIndex((text) => text.startsWith("every workload is SYNCED"));
  if (last < 0) throw new Error(`the control plane did not come up:\n${texts.join("\n")}`);
  return lines.slice(0, last + 1).map((line, index) => {
    const at = (texts[index] ?? "").indexOf(" at nats://");
    return at < 0 ? line : line.slice(0, at);
  });
}

function draw(lines: readonly (readonly Cell[])[]): string {
  const width = Math.ceil(COLUMNS * CELL_WIDTH + 2 * PADDING);
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + 2 * PADDING;
  const prompt = [..."$ npm start"].map((text) => ({
    ...{ text, colour: undefined, bold: true, dim: false },
  }));
  const rows = [prompt, ...lines].map((line, index) => {
    const y = TITLE_HEIGHT + PADDING + index * LINE_HEIGHT;
    return `<text xml:space="preserve" x="${PADDING}" y="${y}">${spans(line)}</text>`;
  });
  const dots = ["#f38ba8", "#f9e2af", "#a6e3a1"].map(
    (colour, index) => `<circle cx="${20 + index * 20}" cy="18" r="6" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + LINE_HEIGHT}" role="img" aria-label="What npm start shows: every workload with labels, mode, version and state">`,
    `<rect width="100%" height="100%" rx="8" fill="#1e1e2e"/>`,
    ...dots,
    `<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" fill="${TEXT}">`,
    ...rows,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Neighbours of one style become one span. */
function spans(line: readonly Cell[]): string {
  let drawn = "";
  for (let at = 0; at < line.length; ) {
    const style = styleOf(line[at]);
    let text = "";
    for (; at < line.length && styleOf(line[at]) === style; at += 1) text += line[at]?.text ?? "";
    const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    drawn += style === "" ? safe : `<tspan${style}>${safe}</tspan>`;
  }
  return drawn;
}

function styleOf(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  const { colour, bold, dim } = cell;
  const fill = colour === undefined ? "" : ` fill="${COLOURS[colour] ?? TEXT}"`;
  return `${fill}${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}`;
}
