import type { StoredRecord } from "../message.ts";
import { ask, type Task } from "./task.ts";

/** Reads the last message of a subject from the stream's leader. */
export function* readLast(stream: string, subject: string): Task<StoredRecord | undefined> {
  const answer = yield* ask((tag) => ({ kind: "read-last", tag, stream, subject }));
  return answer.kind === "read" ? answer.record : undefined;
}

/** Reads the message at one sequence from the stream's leader. */
export function* readAt(stream: string, sequence: number): Task<StoredRecord | undefined> {
  const answer = yield* ask((tag) => ({ kind: "read-at", tag, stream, sequence }));
  return answer.kind === "read" ? answer.record : undefined;
}

/** What a stream says of itself. */
export interface StreamState {
  readonly createdUnixNs: bigint;
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** Asks for a stream's creation time and sequences. */
export function* streamState(stream: string): Task<StreamState> {
  const answer = yield* ask((tag) => ({ kind: "stream-info", tag, stream }));
  if (answer.kind !== "stream-info") {
    throw new TypeError(`stream-info was answered by ${answer.kind}`);
  }
  return answer;
}
