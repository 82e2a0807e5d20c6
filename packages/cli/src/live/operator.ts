import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ApiError, WatchFrame } from "@ringwall/wire";
import { CliError, type CliErrorCode } from "../errors.ts";

/** Options of one call. */
export interface CallOptions {
  /** Partition for verbs that are answered by a partition's owner. */
  readonly partition?: number;
  /** Default 5,000. */
  readonly timeoutMs?: number;
  /** Traceparent that the operation continues. */
  readonly trace?: string;
}

/** What the commands need of a connection: the operators' side of the bus. */
export interface Operator extends AsyncDisposable {
  /** Calls `<prefix>.api.<noun>.<verb>` and gives the answer. Throws CliError `transport`. */
  call<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    body: MessageInitShape<Request>,
    options?: CallOptions,
  ): Promise<MessageShape<Response>>;
  /** Calls every instance that answers within `waitMs`. */
  callAll<Request extends DescMessage, Response extends DescMessage>(
    verb: string,
    request: Request,
    response: Response,
    body: MessageInitShape<Request>,
    waitMs: number,
  ): Promise<MessageShape<Response>[]>;
  /**
   * Follows a streaming verb until the signal; a stream that breaks is opened again, which shows as
   * another `endOfSnapshot`. `body` gets the inbox that the frames are sent to.
   */
  follow<Request extends DescMessage>(
    verb: string,
    request: Request,
    body: (inbox: string) => MessageInitShape<Request>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchFrame, void, void>;
}

const EXIT_OF_API: Readonly<Record<string, CliErrorCode>> = {
  held: "refused",
  not_found: "refused",
  invalid: "invalid",
  conflict: "refused",
  too_large: "invalid",
  unavailable: "transport",
  wrong_environment: "refused",
  refused: "refused",
  denied: "denied",
};

const HINT_OF_API: Readonly<Record<string, string>> = {
  held: "restore the stream that is missing, or accept what is there: ringwall accept-state --expect N",
  unavailable: "`ringwall status` shows which service is missing",
  wrong_environment: "set --env or RINGWALL_ENVIRONMENT to the control plane's environment",
};

/** What to do about something that is not there, by the verb that looked for it. */
const HINT_OF_MISSING: Readonly<Record<string, string>> = {
  "policy.get":
    "`ringwall get workloads` lists the workloads, `ringwall history ID` the versions of one",
  "policy.history": "`ringwall get workloads` lists the workloads",
  "workload.deregister": "`ringwall get workloads` lists the workloads",
  "config.tree": "`ringwall history` lists the commits",
  "lease.lift": "`ringwall leases show` says what is held back",
};

/** Turns an operation's error into what the command ends with. */
export function apiFailure(verb: string, error: ApiError): CliError {
  const hint = error.code === "not_found" ? HINT_OF_MISSING[verb] : HINT_OF_API[error.code];
  return new CliError(EXIT_OF_API[error.code] ?? "refused", `${verb}: ${error.message}`, {
    ...(hint === undefined ? {} : { hint }),
    data: { api: { verb, code: error.code } },
  });
}

/** Gives the answer back, or throws the error that it carries. */
export function accepted<Answer extends { readonly error?: ApiError | undefined }>(
  verb: string,
  answer: Answer,
): Answer {
  if (answer.error !== undefined) throw apiFailure(verb, answer.error);
  return answer;
}
