import { Composer, type CST, LineCounter, Parser, type Document as YamlDocument } from "yaml";
import type { Finding, FindingRule } from "../finding.ts";
import { LIMITS } from "../limits.ts";
import { Cursor, type Reading } from "./cursor.ts";
import { DOCUMENT_TYPES, type Document, isDocumentKind } from "./document.ts";
import { readShape } from "./shapes.ts";

/** A document and where its parts stand. */
export interface LocatedDocument {
  readonly document: Document;
  readonly file: string;
  /** Line of every path in it; the empty path is the document itself. */
  readonly lines: ReadonlyMap<string, number>;
}

/** What reading one document gave: a document, or at least one finding. */
export interface DocumentReading {
  readonly document?: Document;
  readonly located?: LocatedDocument;
  readonly findings: readonly Finding[];
}

/** What reading a file with any number of documents gave. */
export interface DocumentsReading {
  readonly documents: readonly LocatedDocument[];
  readonly findings: readonly Finding[];
}

/**
 * Reads a file that holds exactly one document, strictly: unknown, missing and duplicate keys, wrong
 * types, aliases, tags, size and depth are findings with file, line and path.
 */
export function readDocument(text: string, file: string): DocumentReading {
  const size = sizeOf(text);
  if (size > LIMITS.documentBytes) {
    const message = sizeMessage("document", size, LIMITS.documentBytes);
    return { findings: [{ file, line: 1, path: "", rule: "document-size", message }] };
  }
  const { documents, findings } = readDocuments(text, file);
  const located = documents[0];
  if (findings.length > 0) {
    return { findings };
  }
  if (located === undefined || documents.length > 1) {
    const line = documents[1]?.lines.get("") ?? 1;
    const message = `a file of the tree holds exactly one document, this one ${documents.length}`;
    return { findings: [{ file, line, path: "", rule: "document-count", message }] };
  }
  return { document: located.document, located, findings };
}

/** Reads a file that may hold several documents, separated by `---`; empty ones are skipped. */
export function readDocuments(text: string, file: string): DocumentsReading {
  const refuse = (rule: FindingRule, message: string, line = 1): DocumentsReading => ({
    documents: [],
    findings: [{ file, line, path: "", rule, message }],
  });
  if (sizeOf(text) > LIMITS.commitBytes) {
    return refuse("document-size", sizeMessage("file", sizeOf(text), LIMITS.commitBytes));
  }
  const counter = new LineCounter();
  const tokens = [...new Parser(counter.addNewLine).parse(text)];
  const deep = tokens.find((token) => depthOf(token) > LIMITS.documentDepth);
  if (deep !== undefined) {
    const line = counter.linePos(deep.offset).line;
    return refuse(
      "document-depth",
      `maps and lists are nested deeper than ${LIMITS.documentDepth} levels`,
      line,
    );
  }
  const documents: LocatedDocument[] = [];
  const findings: Finding[] = [];
  // Unique keys are checked while reading: the library compares every pair of keys.
  const composer = new Composer({ lineCounter: counter, uniqueKeys: false, prettyErrors: false });
  for (const parsed of composer.compose(tokens)) {
    const reading: Reading = { file, counter, findings: [], lines: new Map() };
    const document = readParsed(parsed, text, reading);
    findings.push(...reading.findings);
    if (document !== undefined && reading.findings.length === 0) {
      documents.push({ document, file, lines: reading.lines });
    }
  }
  return { documents, findings };
}

function readParsed(
  parsed: YamlDocument.Parsed,
  text: string,
  reading: Reading,
): Document | undefined {
  const root = new Cursor(reading, parsed.contents, "", parsed.range[0]);
  const size = sizeOf(text.slice(parsed.range[0], parsed.range[1]));
  if (size > LIMITS.documentBytes) {
    return root.fault("document-size", sizeMessage("document", size, LIMITS.documentBytes));
  }
  for (const problem of [...parsed.errors, ...parsed.warnings]) {
    const { line } = reading.counter.linePos(problem.pos[0]);
    const { file } = reading;
    reading.findings.push({ file, line, path: "", rule: "yaml", message: problem.message });
  }
  const range = parsed.contents?.range;
  const empty = range === undefined || range[0] === range[1];
  if (reading.findings.length > 0 || empty) {
    return undefined;
  }
  const kind = readKind(root);
  return kind === undefined ? undefined : readShape(kind, root);
}

function readKind(root: Cursor) {
  const written = root.peekText("kind");
  if (written !== undefined && isDocumentKind(written)) {
    return written;
  }
  const known = Object.keys(DOCUMENT_TYPES).join(", ");
  return written === undefined
    ? root.fault("kind", `key "kind" is missing or not text; known kinds are ${known}`)
    : root.fault("kind", `kind "${written}" is not known; known kinds are ${known}`, "kind");
}

/** Deepest nesting of maps and lists; walks without recursion, since the input is not trusted. */
function depthOf(token: CST.Token): number {
  let deepest = 0;
  const stack: { token: CST.Token; depth: number }[] = [{ token, depth: 0 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { token: current, depth } = top;
    deepest = Math.max(deepest, depth);
    if (current.type === "document" && current.value !== undefined) {
      stack.push({ token: current.value, depth });
    } else if ("items" in current) {
      for (const item of current.items) {
        for (const inner of [item.key, item.value]) {
          if (inner) {
            stack.push({ token: inner, depth: depth + 1 });
          }
        }
      }
    }
  }
  return deepest;
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function sizeMessage(what: string, actual: number, allowed: number): string {
  return `the ${what} has ${actual} bytes, allowed are ${allowed}; split it`;
}
