import { setTimeout as delay } from "node:timers/promises";
import {
  ConvergenceRequestSchema,
  type ConvergenceResponse,
  ConvergenceResponseSchema,
} from "@ringwall/wire";
import { CliError } from "../errors.ts";
import { accepted, type Operator } from "./operator.ts";

/** Seconds that `--wait` waits when it is given without a number. */
export const DEFAULT_WAIT_SECONDS = 30;
const POLL_INTERVAL_MS = 150;

/** Asks how far a commit has come. */
export async function convergenceOf(
  operator: Operator,
  configSequence: bigint,
): Promise<ConvergenceResponse> {
  const answer = await operator.call(
    "status.convergence",
    ConvergenceRequestSchema,
    ConvergenceResponseSchema,
    { configSequence },
  );
  return accepted("status.convergence", answer);
}

/** Waits until a commit has converged; throws CliError `not-converged` with who is missing. */
export async function waitConverged(
  operator: Operator,
  configSequence: bigint,
  seconds: number,
  interrupted: AbortSignal,
): Promise<ConvergenceResponse> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const state = await convergenceOf(operator, configSequence);
    if (state.converged) return state;
    if (performance.now() >= deadline || interrupted.aborted) {
      throw notConverged(state, configSequence, seconds);
    }
    await delay(POLL_INTERVAL_MS, undefined, { signal: interrupted }).catch(() => undefined);
  }
}

function notConverged(
  state: ConvergenceResponse,
  configSequence: bigint,
  seconds: number,
): CliError {
  const progress = state.rendered
    ? `${state.acked} of ${state.agents} agents have acknowledged it`
    : "it is not rendered everywhere yet";
  const held = state.heldReason === "" ? "" : `; the control plane is held: ${state.heldReason}`;
  const missing = state.missing.map(({ workload, reason, detail }) => ({
    workload,
    reason,
    detail,
  }));
  return new CliError(
    "not-converged",
    `commit ${configSequence} has not converged after ${seconds} s: ${progress}${held}`,
    {
      lines: missing.map(
        ({ workload, reason, detail }) =>
          `${workload}: ${reason}${detail === "" ? "" : ` (${detail})`}`,
      ),
      hint: "the commit stands; `ringwall get workloads` shows the states, `ringwall watch` the progress",
      data: {
        convergence: {
          rendered: state.rendered,
          agents: state.agents,
          acked: state.acked,
          heldReason: state.heldReason,
          missing,
        },
      },
    },
  );
}
