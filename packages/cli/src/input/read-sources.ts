import { relPathProblem } from "@ringwall/declared";
import { pathOf, readDocument } from "@ringwall/render";
import type { FindingLine } from "../errors.ts";
import type { Put } from "../live/commit.ts";
import type { InputFile, LayerName } from "./find-files.ts";
import { placeOf } from "./place.ts";
import { splitDocuments } from "./split-documents.ts";

/** Where a file of the live tree came from. */
export interface Origin {
  readonly file: string;
  readonly lineOffset: number;
  /** Line in the document of every path in it. */
  readonly lines: ReadonlyMap<string, number>;
}

/** What reading the input gave. */
export interface Sources {
  readonly puts: readonly Put[];
  /** `<layer>/<path>` to where it was read. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly findings: readonly FindingLine[];
}

/** What decides where a document belongs. */
export interface SourceOptions {
  /** Layer of documents whose file does not say; default core. */
  readonly layer: LayerName;
  /** Environment whose overlay may be applied. */
  readonly environment: string;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface Collected {
  readonly puts: Map<string, Put>;
  readonly origins: Map<string, Origin>;
  readonly findings: FindingLine[];
}

/** Reads the documents of all files; every finding is kept, none stops the reading. */
export function readSources(files: readonly InputFile[], options: SourceOptions): Sources {
  const collected: Collected = { puts: new Map(), origins: new Map(), findings: [] };
  for (const file of files) readFileInto(file, options, collected);
  return { ...collected, puts: [...collected.puts.values()] };
}

function readFileInto(input: InputFile, options: SourceOptions, collected: Collected): void {
  const { file } = input;
  const refuse = (rule: string, message: string) =>
    collected.findings.push({ file, line: 0, path: "", rule, message, warning: false });
  let text: string;
  try {
    text = UTF8.decode(input.bytes);
  } catch {
    refuse("encoding", "is not UTF-8; save it as UTF-8");
    return;
  }
  const place =
    input.layer === undefined ? placeOf(file) : { layer: input.layer, path: input.path };
  if (place?.environment !== undefined && place.environment !== options.environment) {
    refuse(
      "environment",
      `belongs to environment "${place.environment}", the control plane serves ` +
        `"${options.environment}"; apply it there`,
    );
    return;
  }
  const documents = place === undefined ? splitDocuments(text) : [{ text, lineOffset: 0 }];
  for (const document of documents) {
    const found = readDocument(document.text, file);
    for (const { line, path, rule, message, warning } of found.findings) {
      const shown = line === undefined ? 0 : line + document.lineOffset;
      collected.findings.push({
        file,
        line: shown,
        path,
        rule,
        message,
        warning: warning === true,
      });
    }
    if (found.document === undefined) continue;
    const path = pathOf(found.document);
    const lines = found.located?.lines ?? new Map<string, number>();
    const origin = { file, lineOffset: document.lineOffset, lines };
    const problem = relPathProblem(path);
    if (problem !== undefined) {
      const line = document.lineOffset + (lines.get("name") ?? 1);
      const message = `can't be stored under this name: ${problem}; choose another`;
      collected.findings.push({ file, line, path: "name", rule: "name", message, warning: false });
      continue;
    }
    if (place?.path !== undefined && place.path !== path) {
      refuse("path", `holds ${path}, but stands at ${place.path}; rename one of them`);
      continue;
    }
    keep(
      { layer: place?.layer ?? options.layer, path, bytes: Buffer.from(document.text) },
      origin,
      collected,
    );
  }
}

function keep(put: Put, origin: Origin, { puts, origins, findings }: Collected): void {
  const key = `${put.layer}/${put.path}`;
  const earlier = origins.get(key);
  if (earlier !== undefined) {
    findings.push({
      file: origin.file,
      line: origin.lineOffset + 1,
      path: "name",
      rule: "duplicate-name",
      message: `${put.path} was read before, at ${earlier.file}:${earlier.lineOffset + 1}; keep one`,
      warning: false,
    });
    return;
  }
  puts.set(key, put);
  origins.set(key, origin);
}
