import { childTrace, type Moment, type SpanEffect } from "@ringwall/actor";
import { AckStatus, type Down } from "@ringwall/wire";

/** The traces of pushes, from their arrival to their acknowledgement. */
export class PushTraces {
  readonly #workload: string;
  /** Made for the first push that is traced: most never are. */
  #came: WeakMap<Down, { readonly trace: string; readonly unixMs: number }> | undefined;

  constructor(workload: string) {
    this.#workload = workload;
  }

  /** A push came; one without a trace is not followed. */
  came(down: Down, trace: string | undefined, { wallMs }: Moment): void {
    if (trace !== undefined) {
      this.#came ??= new WeakMap();
      this.#came.set(down, { trace, unixMs: wallMs });
    }
  }

  /** The span of a push that is acknowledged now; undefined if it came without a trace. */
  ended(
    down: Down,
    status: AckStatus,
    word: string,
    detail: string,
    { wallMs, random }: Moment,
  ): SpanEffect | undefined {
    const came = this.#came?.get(down);
    if (came === undefined) {
      return undefined;
    }
    return {
      kind: "span",
      name: "agent.apply",
      trace: childTrace(came.trace, random),
      parent: came.trace,
      startUnixMs: came.unixMs,
      endUnixMs: wallMs,
      attributes: {
        "ringwall.workload": this.#workload,
        "ringwall.version": Number(down.headVersion),
        "ringwall.status": word,
      },
      ...(status === AckStatus.APPLIED ? {} : { failed: detail }),
    };
  }
}
