const LINE_END = Buffer.from("\r\n");

/** What a server sends, message by message, so that single ones can be left out. */
export class Frames {
  readonly #keeps: (frame: Buffer) => boolean;
  #rest: Buffer = Buffer.alloc(0);

  /** `keeps` is asked for every whole protocol message. */
  constructor(keeps: (frame: Buffer) => boolean) {
    this.#keeps = keeps;
  }

  /** Takes the next bytes and returns those that pass; an incomplete message waits for its rest. */
  pass(bytes: Buffer): Buffer {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const kept: Buffer[] = [];
    for (let length = frameLength(rest); length !== undefined; length = frameLength(rest)) {
      const frame = rest.subarray(0, length);
      if (this.#keeps(frame)) kept.push(frame);
      rest = rest.subarray(length);
    }
    this.#rest = rest;
    return Buffer.concat(kept);
  }
}

/** Length of the message at the beginning; undefined if it is not there whole. */
function frameLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(LINE_END);
  if (end < 0) return undefined;
  const line = bytes.toString("latin1", 0, end);
  const payload = /^H?MSG /.test(line) ? Number(line.slice(line.lastIndexOf(" ") + 1)) + 2 : 0;
  const length = end + 2 + payload;
  return bytes.length < length ? undefined : length;
}
