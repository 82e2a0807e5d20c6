/** One YAML document of a file. */
export interface DocumentText {
  /** Its text; for the only document of a file without markers exactly the file's text. */
  readonly text: string;
  /** Lines of the file before its first line; adding it to a line of `text` gives the file's. */
  readonly lineOffset: number;
}

const MARKER = /^---(?=[ \t\r\n]|$)/;
const END = /^\.\.\.(?=[ \t\r\n]|$)/;
const NOTHING = /^[ \t]*(#.*)?\r?\n?$/;

/**
 * Splits a file at its document markers. A line that begins with `---` or `...` is one wherever it
 * stands (YAML 1.2.2, 9.1.2: no content line may begin so), so no parse is needed and every
 * document keeps its bytes, comments included. Documents without content are left out.
 */
export function splitDocuments(text: string): DocumentText[] {
  const lines = text.split(/(?<=\n)/);
  const documents: DocumentText[] = [];
  let current: string[] = [];
  let start = 0;
  const close = (next: number) => {
    if (!current.every((line) => NOTHING.test(line))) {
      documents.push({ text: current.join(""), lineOffset: start });
    }
    current = [];
    start = next;
  };
  lines.forEach((line, index) => {
    if (END.test(line)) {
      close(index + 1);
    } else if (MARKER.test(line)) {
      const rest = line.slice(3);
      const holdsNothing = NOTHING.test(rest);
      close(holdsNothing ? index + 1 : index);
      if (!holdsNothing) current.push(rest.trimStart());
    } else {
      current.push(line);
    }
  });
  close(lines.length);
  return documents;
}
