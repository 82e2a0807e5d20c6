export {
  Actor,
  type ActorParts,
  MAILBOX_LIMIT,
  MAILBOX_MARK,
  MAILBOX_MARK_BYTES,
} from "./actor.ts";
export { APPEND_WINDOW, APPEND_WINDOW_BYTES } from "./chain.ts";
export type { Clock } from "./clock.ts";
export {
  DONE,
  type Driver,
  failure,
  type Inbox,
  type Outcome,
  type OutsideEffect,
} from "./driver.ts";
export type * from "./effect.ts";
export type * from "./message.ts";
export type * from "./reducer.ts";
export { type RunningActor, type RunOptions, runActor } from "./run.ts";
export { EffectFailed } from "./tasks/effect-failed.ts";
export { Mutex } from "./tasks/mutex.ts";
export { Outbox } from "./tasks/outbox.ts";
export { parallel } from "./tasks/parallel.ts";
export { readAt, readLast, type StreamState, streamState } from "./tasks/reads.ts";
export { ask, chain, pause, signalled, slice, type Task } from "./tasks/task.ts";
export { Tasks } from "./tasks/tasks.ts";
export {
  childTrace,
  newTrace,
  parseTrace,
  sampledTrace,
  type TraceParts,
} from "./trace.ts";
export { type Joined, SPAN_LINKS_LIMIT, TraceJoin } from "./trace-join.ts";
