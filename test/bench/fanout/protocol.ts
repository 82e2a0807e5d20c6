/** What the process that hosts the agents is told. */
export type Order =
  | {
      readonly kind: "start";
      readonly url: string;
      readonly agents: number;
      readonly connections: number;
    }
  /** Lets the agents dial. */
  | { readonly kind: "open" }
  /** Reports when so many agents have put another policy in force and acknowledged it. */
  | { readonly kind: "expect-acks"; readonly count: number }
  /** Reports when every agent's next Hello was answered. */
  | { readonly kind: "expect-sessions" }
  /** Ends every connection at once; each comes back by itself. */
  | { readonly kind: "reconnect" }
  /** Answers plain messages to every agent's place with so many bytes. */
  | { readonly kind: "plain"; readonly answerBytes: number };

/** What it says. Times are Unix milliseconds with fractions. */
export type Report =
  | { readonly kind: "done" }
  | { readonly kind: "times"; readonly times: readonly number[] };

/** Id of an agent's workload by its number. */
export function agentId(index: number): string {
  return `a-${index}`;
}

/** Subject of the plain messages to an agent's place, and of the answers to them. */
export function plainSubjects(index: number): { readonly down: string; readonly up: string } {
  return { down: `plain.${agentId(index)}.down`, up: `plain.${agentId(index)}.up` };
}

/** Now, comparable over processes of one machine. */
export function unixMs(): number {
  return performance.timeOrigin + performance.now();
}
