import { readJsonFile } from "../json/json-format.ts";
import { writeJson } from "../json/write-json.ts";
import { withoutSecrets } from "../lints/secrets.ts";
import { isText } from "../lints/text.ts";
import type { Profile } from "../profile/profile.ts";
import type { Content } from "../tree/content.ts";
import { typeOf } from "../tree/mapping.ts";
import { lastOf } from "../tree/path.ts";

const NO_LINE_FEED = "\n\\ No newline at end of file";

/**
 * A file's text for showing, every secret replaced. It is no Content, so it can't be written back.
 */
export class MaskedText {
  readonly #lines: readonly string[];

  private constructor(text: string) {
    const lines = text === "" ? [] : text.split("\n");
    const last = lines.pop();
    if (last !== undefined && last !== "") lines.push(`${last}${NO_LINE_FEED}`);
    this.#lines = lines;
  }

  /** Lines without their line feeds; the last one says so if the text does not end in one. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The text of a file; undefined for bytes that are no text and for broken JSON. */
  static of(profile: Profile, path: string, content: Content): MaskedText | undefined {
    if (!isText(content)) return undefined;
    const text = content.text() ?? "";
    if (!path.endsWith(".json")) return new MaskedText(text.split("\n").map(maskedLine).join("\n"));
    const read = readJsonFile(content);
    if (typeof read === "string") return undefined;
    const rule = profile.types.get(typeOf(path) ?? "");
    const shown = withoutSecrets(read.value, lastOf(path), rule?.secretPaths ?? []);
    return new MaskedText(shown === read.value ? text : writeJson(shown));
  }
}

const TELLING_LINE = /^(.*?(?:password|passphrase|secret|token)[\w.-]*["']?\s*[:=]\s*)(\S.*)$/i;

/** In a text that is no JSON, what stands behind a telling name is hidden. */
function maskedLine(line: string): string {
  return line.replace(TELLING_LINE, "$1[secret]");
}
