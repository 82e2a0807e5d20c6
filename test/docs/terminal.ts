/** A character on the screen. */
export interface Cell {
  readonly text: string;
  readonly colour: number | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const TOKEN = /\u001b\[([?0-9;]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+|\u001b/g;

/** As much of a terminal as the command's screen needs: lines that grow, cursor up, colours. */
export class Terminal {
  readonly lines: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #colour: number | undefined;
  #bold = false;
  #dim = false;

  /** Takes output as it was written. */
  write(output: string): void {
    for (const [token, parameters = "", final] of output.matchAll(TOKEN)) {
      if (token === "\r") this.#column = 0;
      else if (token === "\n") this.#newLine();
      else if (final !== undefined) this.#control(parameters, final);
      else if (token !== "\u001b") this.#print(token);
    }
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    while (this.lines.length <= this.#row) this.lines.push([]);
  }

  #print(text: string): void {
    const line = this.lines[this.#row] ?? [];
    for (const character of text) {
      while (line.length < this.#column) line.push(blank());
      line[this.#column] = {
        text: character,
        colour: this.#colour,
        bold: this.#bold,
        dim: this.#dim,
      };
      this.#column += 1;
    }
  }

  #control(parameters: string, final: string): void {
    const numbers = parameters.split(";").map(Number);
    switch (final) {
      case "A":
        this.#row = Math.max(0, this.#row - (numbers[0] || 1));
        break;
      case "K":
        this.lines[this.#row] = [];
        break;
      case "J":
        this.lines.length = this.#row + 1;
        this.lines[this.#row]?.splice(this.#column);
        break;
      case "m":
        for (const number of numbers) this.#style(number);
        break;
      default:
        break;
    }
  }

  #style(number: number): void {
    if (number === 0) {
      this.#colour = undefined;
      this.#bold = false;
      this.#dim = false;
    } else if (number === 1) this.#bold = true;
    else if (number === 2) this.#dim = true;
    else if (number === 22) {
      this.#bold = false;
      this.#dim = false;
    } else if (number >= 30 && number <= 37) this.#colour = number - 30;
    else if (number === 39) this.#colour = undefined;
  }
}

function blank(): Cell {
  return { text: " ", colour: undefined, bold: false, dim: false };
}
