import { ask, type Task } from "@ringwall/actor";

/** What to append. */
export interface Write {
  readonly stream: string;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Last sequence of the subject; the write is then fenced and needs a `write` id. */
  readonly fence?: { readonly sequence: number; readonly write: string };
  readonly trace?: string;
}

/** Appends and returns the sequence; throws EffectFailed, `fence-lost` when someone else wrote. */
export function* append(write: Write): Task<number> {
  const { stream, subject, payload, headers, fence, trace } = write;
  const answer = yield* ask((tag) => ({
    kind: "append",
    tag,
    stream,
    subject,
    payload,
    headers,
    ...(fence === undefined ? {} : { expect: { sequence: fence.sequence }, write: fence.write }),
    ...(trace === undefined ? {} : { trace }),
  }));
  if (answer.kind !== "appended") {
    throw new TypeError(`append was answered by ${answer.kind}`);
  }
  return answer.sequence;
}
