/** Colours of the terminal; each is the identity where colour is off. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly blue: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** What decides whether colour is used. */
export interface PaintConditions {
  readonly isTerminal: boolean;
  /** False after `--no-color`. */
  readonly wanted: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const same = (text: string) => text;

const PLAIN: Paint = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  blue: same,
  cyan: same,
};

const sgr = (on: number, off: number) => (text: string) =>
  text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;

const COLOURED: Paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  blue: sgr(34, 39),
  cyan: sgr(36, 39),
};

/**
 * Colour only on a terminal, never with a non-empty NO_COLOR (no-color.org), TERM=dumb or
 * `--no-color`.
 */
export function choosePaint({ isTerminal, wanted, environment }: PaintConditions): Paint {
  const refused = (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  return isTerminal && wanted && !refused ? COLOURED : PLAIN;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ESCAPES = /\u001b\[[0-9;]*m/g;

/** Number of columns that a text takes, escape sequences not counted. */
export function visibleLength(text: string): number {
  return [...text.replace(ESCAPES, "")].length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is made harmless
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Replaces control characters, so that text from elsewhere can't steer the terminal. */
export function harmless(text: string): string {
  return text.replace(CONTROL, "\ufffd");
}
