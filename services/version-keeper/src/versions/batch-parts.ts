import { equals } from "@bufbuild/protobuf";
import { type Inputs, InputsSchema, type RenderBatch } from "@ringwall/wire";

/** All parts of one RenderBatch. */
export interface WholeBatch {
  readonly inputs: Inputs;
  readonly full: boolean;
  readonly parts: readonly RenderBatch[];
  /** Where its last part stands in RENDERED. */
  readonly sequence: number;
  /** Trace of the last part, if it was traced. */
  readonly trace?: string;
}

/** Most parts of one batch; each is one message. */
const MOST_PARTS = 1_024;

/**
 * Puts the parts of split batches together. A part that does not continue the one before it, as
 * after a writer that lost its fence midway, drops what was collected.
 */
export class BatchParts {
  #parts: RenderBatch[] = [];

  /** Takes a part; the whole batch if it was the last one. */
  take(part: RenderBatch, sequence: number, trace?: string): WholeBatch | undefined {
    const inputs = part.inputs;
    if (part.index === 0 || !this.#continues(part)) {
      this.#parts = [];
    }
    const fits = part.index === this.#parts.length && part.count <= MOST_PARTS;
    if (inputs === undefined || !fits) {
      this.#parts = [];
      return undefined;
    }
    this.#parts.push(part);
    if (this.#parts.length < part.count) {
      return undefined;
    }
    const parts = this.#parts;
    this.#parts = [];
    const batch = { inputs, full: part.full, parts, sequence };
    return trace === undefined ? batch : { ...batch, trace };
  }

  #continues(part: RenderBatch): boolean {
    const first = this.#parts[0];
    return (
      first?.inputs !== undefined &&
      part.inputs !== undefined &&
      part.full === first.full &&
      part.count === first.count &&
      equals(InputsSchema, part.inputs, first.inputs)
    );
  }
}
